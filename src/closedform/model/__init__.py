"""What a robot is, as frozen records; and the files it can come from."""
