"""Motions: given, simulated, and the torques they take."""
