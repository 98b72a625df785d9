"""The studio without its browser: what a client may wish, and what is shown at a state."""
