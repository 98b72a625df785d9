"""A folder is used only if it is the user's own, and so is every link on the way to it."""

import os
import stat

import pytest

from closedform.lowerings.store import private_folder as module
from closedform.lowerings.store.cache import Cache, entry_key
from closedform.lowerings.store.private_folder import private_folder

pytestmark = pytest.mark.skipif(not hasattr(os, "getuid"), reason="files have no owner here")
KEY = entry_key("some code")


@pytest.fixture
def mine(tmp_path):
    """A private folder with something in it."""
    folder = tmp_path / "mine"
    folder.mkdir(mode=0o700)
    (folder / "thesis").write_text("mine")
    return folder


def make_foreign(link, monkeypatch):
    """Let the link be another user's: really, or by being somebody else."""
    me = os.getuid()
    if me == 0:
        os.lchown(link, 12345, -1)
    else:
        monkeypatch.setattr(os, "getuid", lambda: me + 1)


def names_in(path):
    with private_folder(path, create=False) as folder:
        return folder.names()


@pytest.mark.parametrize("below", ["", "deeper/cache"], ids=["the folder", "on the way"])
def test_a_link_of_somebody_else_is_neither_followed_nor_written_to(
        mine, tmp_path, monkeypatch, below):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    (shared / "cf").symlink_to(mine)
    make_foreign(shared / "cf", monkeypatch)
    cache = Cache(shared / "cf" / below)
    with pytest.warns(UserWarning, match="is not used: the link cf in its path belongs to user"):
        cache.write(KEY, {})
        assert cache.read(KEY) is None
    assert [path.name for path in mine.iterdir()] == ["thesis"]


@pytest.mark.parametrize("target", ["mine", "../{here}/mine", "{path}/mine", "second"])
def test_links_of_ones_own_are_followed(mine, tmp_path, target):
    (tmp_path / "second").symlink_to("mine")
    (tmp_path / "link").symlink_to(target.format(here=tmp_path.name, path=tmp_path))
    assert names_in(tmp_path / "link") == ["thesis"]
    with private_folder(tmp_path / "link" / "a" / "b", create=True):
        assert stat.S_IMODE((mine / "a" / "b").stat().st_mode) == 0o700


def test_what_a_link_of_ones_own_leads_to_is_made_again(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "cleared" / "me")
    with pytest.raises(FileNotFoundError):
        names_in(tmp_path / "link" / "cache")
    with private_folder(tmp_path / "link" / "cache", create=True):
        assert (tmp_path / "cleared" / "me" / "cache").is_dir()


def test_links_in_a_circle_are_an_error(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="symbolic links"):
        names_in(tmp_path / "a")


def test_a_path_may_lead_back_through_a_link_as_for_the_system(mine, tmp_path):
    (mine / "inner").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(mine / "inner")
    assert sorted(names_in(tmp_path / "link" / "..")) == ["inner", "thesis"]


def test_folders_on_the_way_need_not_be_readable(mine, tmp_path):
    if not hasattr(os, "O_PATH"):
        pytest.skip("folders are opened for reading here")
    tmp_path.chmod(0o300)
    try:
        assert names_in(mine) == ["thesis"]
    finally:
        tmp_path.chmod(0o700)


def test_a_link_that_is_exchanged_while_it_is_read_is_refused(mine, tmp_path, monkeypatch):
    read = os.readlink
    (tmp_path / "link").symlink_to(mine)
    (tmp_path / "other").symlink_to(mine)

    def exchanging(name, **more):
        (tmp_path / "other").replace(tmp_path / "link")
        return read(name, **more)

    monkeypatch.setattr(module.os, "readlink", exchanging)
    with pytest.raises(PermissionError, match="the link link in its path changes"):
        names_in(tmp_path / "link")


def test_a_folder_that_becomes_a_link_is_refused(mine, tmp_path, monkeypatch):
    look = os.stat
    (tmp_path / "folder").mkdir(mode=0o700)

    def exchanging(name, **more):
        found = look(name, **more)
        if name == "folder":
            (tmp_path / "folder").rmdir()
            (tmp_path / "folder").symlink_to(mine)
        return found

    monkeypatch.setattr(module.os, "stat", exchanging)
    with pytest.raises(OSError, match=r"Not a directory|symbolic links"):
        names_in(tmp_path / "folder")


@pytest.mark.skipif(hasattr(os, "getuid") and os.getuid() != 0, reason="needs another's folder")
def test_a_folder_of_somebody_else_is_refused(mine):
    os.chown(mine, 12345, -1)
    with pytest.raises(PermissionError, match="owner 12345"):
        names_in(mine)
