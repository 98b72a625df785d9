"""Logs of robots: tables of numbers in files, and which column is what."""
