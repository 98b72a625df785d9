"""What a computation is: recorded scalars, straight-line programs and passes from program to program."""
