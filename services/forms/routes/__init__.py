"""Decode, call once, return."""
