"""A program as source text."""
