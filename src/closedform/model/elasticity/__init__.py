"""What bends: links as beams, joints with springs. Frozen records."""
