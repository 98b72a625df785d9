import pytest

import closedform as cf
from closedform.lowerings.wasm.linking import MemoryLayout, linked, signed, unsigned


@pytest.mark.parametrize("x, expected", [
    (0, b"\0"), (127, b"\x7f"), (128, b"\x80\1"), (624485, b"\xe5\x8e\x26")])
def test_numbers_are_written_as_the_specification_says(x, expected):
    assert unsigned(x) == expected


@pytest.mark.parametrize("x, expected", [
    (2, b"\2"), (63, b"\x3f"), (64, b"\xc0\0"), (-64, b"\x40"), (-123456, b"\xc0\xbb\x78")])
def test_numbers_with_signs_too(x, expected):
    assert signed(x) == expected


@pytest.mark.parametrize("imported", [
    b"\1\3env\4sine\0\0", b"\1\3env\5table\1\x70\0\0", b"\1\3env\5other\3\x7f\1"])
def test_what_would_be_needed_of_a_host_is_refused_by_name(imported):
    code = b"\0asm\1\0\0\0\2" + unsigned(len(imported)) + imported
    with pytest.raises(cf.ClosedformError, match=r"the code needs (sine|table|other)"):
        linked(code, [], MemoryLayout(0, {}))


def test_what_is_no_object_file_is_refused():
    with pytest.raises(cf.ClosedformError, match="no object file"):
        linked(b"\x7fELF...........", [], MemoryLayout(0, {}))
