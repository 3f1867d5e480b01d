"""Code that several services use. It does not import any service."""
