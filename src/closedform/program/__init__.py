"""What a computation is: recorded scalars, straight-line programs and passes between them."""
