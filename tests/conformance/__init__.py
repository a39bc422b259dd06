"""Corpora of others, through masks and tokens."""
