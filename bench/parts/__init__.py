"""Hand-written parts beside the library that would do the same. Below 1.3 the library takes over."""
