"""Derivatives by time, to any order: closed forms, block form, Taylor series."""
