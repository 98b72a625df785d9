"""Inertial parameters: the minimum set, decided exactly; regressors."""
