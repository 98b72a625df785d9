"""The built-in robots."""
