"""Hand-written parts compared with a library. If the ratio is below 1.3, we use the library."""
