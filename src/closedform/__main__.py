"""`python -m closedform`: the command line."""

from closedform.interfaces.cli.main import main

main()
