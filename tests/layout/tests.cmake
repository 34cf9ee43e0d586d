tessera_add_test(layout PRECOMPILED standard)
