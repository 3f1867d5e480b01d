"""All SQL of this service: a constant above the one function that uses it."""
