"""The way from Python into machine code."""
