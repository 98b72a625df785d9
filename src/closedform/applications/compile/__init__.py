"""Compiled robots: where the towers meet."""
