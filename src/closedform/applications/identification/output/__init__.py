"""A fit to go on with: a table, files, a page."""
