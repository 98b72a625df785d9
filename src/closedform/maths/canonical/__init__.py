"""The same robot in frames and parameters that cost the fewest operations."""
