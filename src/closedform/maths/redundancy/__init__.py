"""Redundant arms."""
