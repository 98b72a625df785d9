"""What a kernel's quick code is not for: noticed, and done again with care."""
