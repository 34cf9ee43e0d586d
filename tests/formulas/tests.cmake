tessera_add_test(formulas PRECOMPILED standard OPTIMISED loops)
