"""What can be said of MJCF before MuJoCo compiles it: that it is MJCF, and its names.

MuJoCo owns the format and reads more than XML allows (`--` in comments, further end tags), so that
a document that is not well formed is left to it; lines are known as far as the XML goes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from lxml import etree

from closedform.model.findings import Finding, Level, refuse_errors
from closedform.model.formats.xml import (
    Document,
    Element,
    line,
    name_faults,
    read_bytes,
    read_xml,
    tag,
)

BEFORE = (("<?", "?>"), ("<!--", "-->"), ("<!", ">"))
"""What may stand before the root element, each with its end."""
NAMED = ("{*}body", "{*}joint", "{*}freejoint", "{*}site", "{*}key")


def is_mjcf(source: Path | str) -> bool:
    """Whether the first element of a file (a Path) or an XML text is <mujoco>."""
    text = source if isinstance(source, str) else _decoded(read_bytes(source))
    text = text.lstrip("\ufeff \t\r\n")
    while (ends := [end for start, end in BEFORE if text.startswith(start)]):
        text = text.partition(ends[0])[2].lstrip()
    return re.match(r"<mujoco(?![\w.:-])", text) is not None


def _decoded(content: bytes) -> str:
    wide = content.startswith((b"\xff\xfe", b"\xfe\xff"))
    return content.decode("utf-16" if wide else "utf-8", "replace")


def mjcf_document(source: Path | str) -> Document:
    """The document as far as it is XML; what is not well formed is left to MuJoCo.

    A DOCTYPE and elements without end inside each other stay refused.
    """
    document = read_xml(source)
    tolerable = [f for f in document.findings if f.rule == "malformed-xml"
                 and "depth" not in f.message.lower()]
    if document.root is not None or len(tolerable) < len(document.findings):
        return document
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, recover=True,
                             huge_tree=False, remove_comments=True, remove_pis=True)
    content = source.encode("utf-8", "replace") if isinstance(source, str) else read_bytes(source)
    root = etree.fromstring(content, parser)
    return document if root is None else Document(document.file, root)


def mjcf_name_faults(document: Document) -> list[Finding]:
    """Names that none may have, and blanks; included files are not looked at here."""
    root = document.checked_root()
    if tag(root) != "mujoco":
        return [Finding(Level.ERROR, "no-mjcf", "document",
                        f"the root element of MJCF is <mujoco>, not <{tag(root)}>", "",
                        document.file)]
    return [*name_faults([root], "model", document.file),
            *name_faults(root.iter(*NAMED), "name", document.file), *_blanks(root, document.file)]


def _blanks(root: Element, file: str) -> Iterator[Finding]:
    """Attributes of white space alone: MuJoCo's parser gives up there and blocks what follows."""
    for element in root.iter():
        for name, value in ((str(k), str(x)) for k, x in element.attrib.items()):
            if value and not value.strip():
                yield Finding(Level.ERROR, "blank", f"<{tag(element)}>",
                              f"the attribute {name} of <{tag(element)}> is blank",
                              "give its value, or remove it", file, line(element))


def checked_file(source: Path | str) -> str:
    """The name of the file, once its names are found to be good."""
    document = mjcf_document(source)
    refuse_errors(mjcf_name_faults(document))
    return document.file


