"""Formulas as the papers print them, errata beside; tests and documentation run them."""
