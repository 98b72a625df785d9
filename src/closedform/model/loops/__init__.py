"""Closed kinematic loops: cut joints of a spanning tree, and configurations that close them."""
