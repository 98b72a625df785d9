"""Which steps the threads of a GPU run, in which order, and what waits meanwhile."""
