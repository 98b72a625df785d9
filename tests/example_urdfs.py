"""The URDF files of the package example-robot-data."""

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path


def urdf_files():
    try:
        package = distribution("example-robot-data")
    except PackageNotFoundError:
        return []
    files = [Path(package.locate_file(f)) for f in package.files or () if f.suffix == ".urdf"]
    return sorted(path.resolve() for path in files)


FILES = urdf_files()
