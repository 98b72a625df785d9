"""Files are there whole or not at all."""

import errno
import os
from pathlib import Path

import pytest

from closedform.applications.whole_files import whole_file


def test_what_was_written_takes_the_place_of_the_old_file_with_its_mode(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("old")
    path.chmod(0o640)
    with whole_file(path) as place:
        place.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new" and path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_write_leaves_the_old_file_and_names_it(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("old")
    with pytest.raises(OSError, match=r"No space left .*x\.txt"), whole_file(path) as place:
        place.write_text("half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_links_are_followed_and_devices_written_to(tmp_path):
    real, link = tmp_path / "real.txt", tmp_path / "link.txt"
    real.write_text("old")
    link.symlink_to(real)
    with whole_file(link) as place:
        place.write_text("new")
    assert link.is_symlink() and real.read_text() == "new"
    with whole_file(os.devnull) as place:
        place.write_text("nothing")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no such device")
def test_a_full_device_is_named_and_stays():
    with pytest.raises(OSError, match=r"No space left .*/dev/full"), whole_file("/dev/full") as x:
        x.write_text("something")
    assert Path("/dev/full").exists()


def test_a_missing_folder_is_named(tmp_path):
    path = tmp_path / "none" / "x.txt"
    with pytest.raises(FileNotFoundError, match=r"none/x\.txt"), whole_file(path) as place:
        place.write_text("x")
