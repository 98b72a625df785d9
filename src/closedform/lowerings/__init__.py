"""A program, run or written down: each lowering takes a `Program` and has one job."""
