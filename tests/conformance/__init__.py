"""Suites and corpora of others, against a ratchet that only moves up."""
