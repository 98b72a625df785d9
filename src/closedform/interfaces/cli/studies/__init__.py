"""Commands that compute many rows, on one machine or many: maps and sweeps."""
