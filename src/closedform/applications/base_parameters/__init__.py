"""Base parameters to be read and seen."""
