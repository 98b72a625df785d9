"""Robots with elastic joints."""
