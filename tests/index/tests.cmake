tessera_add_test(index PRECOMPILED standard)
