"""A program, run or written down: each lowering takes a `Program` and returns something that runs or reads."""
