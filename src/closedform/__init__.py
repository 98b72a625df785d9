"""closedform."""
