"""URDF: read as records, as a tree, as a robot; and written."""
