"""From logs to inertial, friction and drive parameters that a robot can have, with a verdict."""
