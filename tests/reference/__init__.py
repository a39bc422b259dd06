"""Slow engines that tests compare the fast one with. Never importable from `constrain`."""
