"""Motions that make what is to be found visible in the torques."""
