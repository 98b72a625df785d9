"""A robot that computes in the page that shows it."""
