"""The minimum set of inertial parameters, decided exactly."""
