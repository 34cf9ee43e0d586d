# Plans for any device of any job, made in one process.
tessera_add_test(statement PRECOMPILED standard)
