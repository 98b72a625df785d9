"""Estimators on triangles: they never see a log."""
