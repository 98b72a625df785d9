"""MJCF: compiled by MuJoCo without what a robot does not need, and read as a robot."""
