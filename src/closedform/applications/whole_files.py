"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """A place beside `path` to write to; what is there takes its place when the block ends well.

    If it does not, as on a full disk, the old file stays as it was. Pipes and devices are written
    to themselves. An OSError names the file.
    """
    target = Path(os.path.realpath(path))
    device = target.exists() and not target.is_file()
    place = target if device else target.with_name(f".{os.getpid()}-{target.name}")
    try:
        yield place
        if not device:
            if target.exists():
                shutil.copymode(target, place)
            place.replace(target)
    except OSError as error:
        raise type(error)(error.errno, error.strerror or str(error), str(path)) from error
    finally:
        if not device:
            with suppress(OSError):
                place.unlink()


def save_picture(figure: Figure, path: str | Path) -> None:
    """The figure as a file of the kind that the name ends in."""
    with whole_file(path) as place:
        figure.savefig(place, dpi=140)
