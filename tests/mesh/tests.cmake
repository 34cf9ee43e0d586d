tessera_add_test(mesh PRECOMPILED standard)
