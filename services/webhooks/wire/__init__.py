"""Request and response structs."""
