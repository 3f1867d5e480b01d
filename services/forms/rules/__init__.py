"""Pure decisions over forms, answers and leads: no I/O, time is an argument."""
