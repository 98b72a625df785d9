"""Quantities as source that stands alone."""
