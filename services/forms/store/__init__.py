"""All SQL of forms, submissions and leads."""
