"""The usual stack, written as its own tutorials write it. Runs in its own virtualenv."""
