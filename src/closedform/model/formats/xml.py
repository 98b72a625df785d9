"""XML read safely: no entities, no network, bounded size and depth, a line for every fault."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from lxml import etree

from closedform.errors import FormatError
from closedform.model.findings import Finding, Level, refuse_errors
from closedform.model.names import name_fault

MAX_BYTES = 32 * 2**20
"""The largest file that is read; robots without their meshes have less than 1 MB."""

TEXT = "<text>"
"""Stands for the file's name where XML is given as a text."""

Element = etree._Element


@final
@dataclass(frozen=True)
class Document:
    """A parsed file or text: its root element, or None with the findings that say why."""

    file: str
    root: Element | None
    findings: tuple[Finding, ...] = ()

    def checked_root(self) -> Element:
        """The root element; a `FormatError` with file and line where there is none."""
        refuse_errors(self.findings)
        assert self.root is not None
        return self.root


def is_xml_text(source: str) -> bool:
    """Whether a text is XML rather than a path or a name."""
    return source.lstrip("\ufeff \t\r\n").startswith("<")


def read_bytes(path: Path) -> bytes:
    """The content of a regular file of bounded size."""
    try:
        content = _start(path)
    except (OSError, ValueError) as error:  # ValueError: a null character in the path
        raise FormatError(f"{path}: cannot be read as a robot's file: {error}") from error
    if len(content) > MAX_BYTES:
        raise FormatError(f"{path}: larger than {MAX_BYTES // 2**20} MB, the limit for a file")
    return content


def _start(path: Path) -> bytes:
    """What a regular file holds, up to one byte more than is accepted."""
    if not path.is_file():
        raise OSError("there is no such file" if not path.exists() else "this is no regular file")
    with path.open("rb") as stream:
        return stream.read(MAX_BYTES + 1)


def read_xml(source: Path | str) -> Document:
    """A file (a Path, any encoding) or an XML text (a str, whatever encoding it declares)."""
    if isinstance(source, Path):
        return parse_xml(read_bytes(source), str(source))
    content = _without_declaration(source.removeprefix("\ufeff")).encode("utf-8", "surrogatepass")
    if len(content) > MAX_BYTES:
        raise FormatError(f"{TEXT}: larger than {MAX_BYTES // 2**20} MB, the limit for a robot")
    return parse_xml(content, TEXT, encoding="utf-8")


def _without_declaration(text: str) -> str:
    """The text with `<?xml …?>` blanked out: the encoding it names is not a str's; lines stay."""
    return re.sub(r"\A\s*<\?xml\b[^>]*\?>", lambda m: re.sub(r"[^\n]", " ", m[0]), text)


def parse_xml(content: bytes, file: str, encoding: str | None = None) -> Document:
    """The document in these bytes; faults become findings, never another library's exception."""
    parser = etree.XMLParser(encoding=encoding, resolve_entities=False, no_network=True,
                             load_dtd=False, dtd_validation=False, huge_tree=False,
                             remove_comments=True, remove_pis=True)
    try:
        root = etree.fromstring(content, parser)
    except etree.XMLSyntaxError as error:
        return Document(file, None, (_syntax_finding(error, file),))
    info: Any = root.getroottree().docinfo
    if info.doctype or info.internalDTD is not None:
        return Document(file, None, (Finding(
            Level.ERROR, "doctype", "document", "a DOCTYPE is not accepted, nor are entities",
            "remove the <!DOCTYPE …> declaration", file, 1),))
    return Document(file, root)


def _syntax_finding(error: etree.XMLSyntaxError, file: str) -> Finding:
    reason = re.sub(r", line \d+, column \d+.*", "", error.msg or "not well formed").strip()
    line = max(error.lineno or 1, 1)
    if "prefix xacro" in reason:
        return xacro_finding(file, line)
    return Finding(Level.ERROR, "malformed-xml", "document", f"malformed XML: {reason}",
                   "correct the document here", file, line)


def xacro_finding(file: str, line: int | None) -> Finding:
    """A xacro file is a program that writes URDF, not URDF."""
    return Finding(Level.ERROR, "xacro", "document", "this is a xacro file, not URDF",
                   "run xacro first: `xacro FILE > robot.urdf`", file, line)


def name_faults(elements: Iterable[Element], attribute: str, file: str) -> Iterator[Finding]:
    """Elements whose names hold characters that no name may have."""
    for element in elements:
        fault = name_fault(element.get(attribute) or "")
        if fault is not None:
            subject = f"{tag(element)} {element.get(attribute)!r:.80}"
            yield Finding(Level.ERROR, "bad-name", subject, f"{tag(element)} {attribute} {fault}",
                          "give it another name", file, line(element))


def tag(element: Element) -> str:
    """The element's name without its namespace."""
    return etree.QName(element).localname


def child(element: Element, name: str) -> Element | None:
    """The first child of that name."""
    return next(element.iterchildren(f"{{*}}{name}"), None)


def children(element: Element, name: str) -> list[Element]:
    """All children of that name, in the file's order."""
    return list(element.iterchildren(f"{{*}}{name}"))


def xacro_element(root: Element) -> Element | None:
    """The first element of xacro's language; a mere declaration of its namespace is none."""
    named = "(//*[starts-with(name(), 'xacro:') or contains(namespace-uri(), 'xacro')])[1]"
    found: Any = root.xpath(named)
    return found[0] if found else None


def line(element: Element) -> int | None:
    """The element's line in its file, from 1."""
    number: Any = element.sourceline
    return number
