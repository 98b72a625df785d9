"""Scalars that carry more than a number: Taylor series, two derivatives."""
