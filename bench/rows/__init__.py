"""What each row measures: one module each, `run(testbed, plan)` answers its lines and ratios."""
