"""What each row measures: one module each, `run(stage, plan)` answers its lines and ratios."""
