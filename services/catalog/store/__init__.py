"""All SQL of the catalog, a constant above the one function that uses it."""
