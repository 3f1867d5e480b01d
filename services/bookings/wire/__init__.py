"""Request and response shapes, one file per noun."""
