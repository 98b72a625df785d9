"""A report on a robot, and its times."""
