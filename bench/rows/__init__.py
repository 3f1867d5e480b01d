"""What each row measures: one module each; `run(testbed, plan)` returns its lines and ratios."""
