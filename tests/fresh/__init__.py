"""`make fresh`: what a newcomer sees, in a clean clone with an empty home."""
