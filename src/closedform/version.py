"""The version, for every room and for the package's metadata, which need not be installed."""

__version__ = "0.1.0"
