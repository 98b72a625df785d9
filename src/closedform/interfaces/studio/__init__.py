"""The studio in a browser: the gate to viser, one session for each client."""
