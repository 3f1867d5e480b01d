"""studioctl."""
