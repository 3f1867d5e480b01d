"""Compares an older commit with this working tree, interleaved in one run."""
