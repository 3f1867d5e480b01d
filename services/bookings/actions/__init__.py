"""One file per operation; each owns its transaction."""
