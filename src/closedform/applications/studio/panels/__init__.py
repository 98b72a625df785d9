"""Panels: one function from what is shown to HTML each, a row of `PANELS`."""
