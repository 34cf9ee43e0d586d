# Plans of very large jobs, and random ones.
tessera_add_test(plan OPTIMISED exchange_fuzz scale PRECOMPILED standard)
