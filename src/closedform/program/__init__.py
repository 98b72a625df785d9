"""What a computation is: recorded scalars, straight-line programs and passes between them.

Nothing here is of one machine, with one exception: orders are made for the core that
`ordering/machine.py` describes, and are right on all others.
"""
