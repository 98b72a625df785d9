"""Planar arms with flexible links."""
