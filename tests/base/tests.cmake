tessera_add_test(base PRECOMPILED standard)
