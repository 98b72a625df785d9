"""Quantities of deep robots by loops: the robot as tables, the plans of rows, the loops."""
