"""Robots of pip packages: each file loads and agrees with its peer, or is refused for a reason.

`python tools/real_files.py` runs the same and writes docs/real-files.md.
"""

import pytest

from corpus import PACKAGES, files, judged, missing, refusal

pytest.importorskip("pinocchio")
pytest.importorskip("mujoco")


@pytest.mark.slow
@pytest.mark.parametrize("package", PACKAGES)
def test_files_of_a_package_agree_with_their_peers_or_are_refused_for_a_reason(package):
    if why := missing(package):
        pytest.skip(why)
    found = [judged(name, path) for name, path in files() if name == package]
    wrong = [one for one in found if one.result in ("error", "differs", "too slow")]
    assert wrong == []
    assert [one for one in found if one.result in ("refused", "both refuse", "open")
            and not refusal(one.reason)] == []
    assert any(one.result in ("agrees", "open") for one in found)
