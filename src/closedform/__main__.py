"""`python -m closedform`: the command line."""

from closedform.interfaces.cli import main

main()
