"""Benchmarks: our services next to the bare servers below them and to a typical stack."""
