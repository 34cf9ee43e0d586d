tessera_add_test(products PRECOMPILED standard OPTIMISED processors LINKS tessera::index)
