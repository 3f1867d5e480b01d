"""The typical stack, written as its own tutorials do. Runs in its own virtualenv."""
