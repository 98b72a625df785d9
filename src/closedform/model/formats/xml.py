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

TOO_DEEP = "Excessive depth"
"""libxml2's word for more than 256 elements inside each other. A chain in MJCF has one for each
body: without entities, eight times as many are read."""

TEXT = "<text>"
"""Stands for the file's name where XML is given as a text."""

DECLARATION = re.compile(rb"\A\s*(?:<!--(?:(?!-->).)*-->\s*)*(<\?xml\s[^>]*\?>)", re.DOTALL)

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
        return parse_xml(*_without_declaration(read_bytes(source)), str(source))
    content, _ = _without_declaration(source.encode("utf-8", "surrogatepass"))
    if len(content) > MAX_BYTES:
        raise FormatError(f"{TEXT}: larger than {MAX_BYTES // 2**20} MB, the limit for a robot")
    return parse_xml(content, "utf-8", TEXT)


def _without_declaration(content: bytes) -> tuple[bytes, str | None]:
    """The bytes with `<?xml …?>` blanked out, and the encoding that it names; lines stay.

    Files in the field declare versions that do not exist, have blank lines and comments before
    the declaration, and end in null characters. UTF-16 and UTF-32 are left to the parser.
    """
    content = content.removeprefix(b"\xef\xbb\xbf")
    if b"\0" not in content[:4]:
        content = content.rstrip(b"\0 \t\r\n")
    found = DECLARATION.match(content)
    if found is None:
        return content, None
    named = re.search(rb"encoding\s*=\s*[\"']([\w.:-]+)[\"']", found[1])
    start, end = found.span(1)
    blank = re.sub(rb"[^\r\n]", b" ", found[1])
    return content[:start] + blank + content[end:], named and named[1].decode()


def parse_xml(content: bytes, encoding: str | None, file: str) -> Document:
    """The document in these bytes; faults become findings, never another library's exception."""
    try:
        root = _parsed(content, encoding)
    except LookupError as error:
        return Document(file, None, (Finding(Level.ERROR, "malformed-xml", "document",
                                             f"malformed XML: {error}", "write UTF-8", file, 1),))
    except etree.XMLSyntaxError as error:
        return Document(file, None, (_syntax_finding(error, file),))
    info: Any = root.getroottree().docinfo
    if info.doctype or info.internalDTD is not None:
        return Document(file, None, (Finding(
            Level.ERROR, "doctype", "document", "a DOCTYPE is not accepted, nor are entities",
            "remove the <!DOCTYPE …> declaration", file, 1),))
    return Document(file, root)


def _parsed(content: bytes, encoding: str | None) -> Element:
    """The root element; prefixes that nobody declared stay parts of the names they stand in."""
    safe: dict[str, Any] = {
        "encoding": encoding, "resolve_entities": False, "no_network": True, "load_dtd": False,
        "dtd_validation": False, "huge_tree": False, "remove_comments": True, "remove_pis": True}
    parser = etree.XMLParser(**safe)
    try:
        return etree.fromstring(content, parser)
    except etree.XMLSyntaxError as error:
        log: Any = parser.error_log
        if TOO_DEEP in (error.msg or "") and not _may_have_entities(content, encoding):
            return etree.fromstring(content, etree.XMLParser(**safe | {"huge_tree": True}))
        if any(entry.domain_name != "NAMESPACE" for entry in log):
            raise
    return etree.fromstring(content, etree.XMLParser(recover=True, **safe))


def _may_have_entities(content: bytes, encoding: str | None) -> bool:
    """Whether a text may declare entities, which only the parser's low limits keep small."""
    return b"\0" in content or "<!DOCTYPE" in content.decode(encoding or "utf-8", "replace")


def _syntax_finding(error: etree.XMLSyntaxError, file: str) -> Finding:
    reason = re.sub(r", (line \d+, column \d+|use XML_PARSE_HUGE).*", "",
                    error.msg or "not well formed").strip()
    line = max(error.lineno or 1, 1)
    return Finding(Level.ERROR, "malformed-xml", "document", f"malformed XML: {reason}",
                   "correct the document here", file, line)


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
    return str(element.tag).rpartition("}")[2]


def full_tag(element: Element) -> str:
    """The element's name as it is written, with its prefix if it has one."""
    return f"{element.prefix}:{tag(element)}" if element.prefix else str(element.tag)


def child(element: Element, name: str) -> Element | None:
    """The first child of that name."""
    return next(iter(children(element, name)), None)


def children(element: Element, name: str) -> list[Element]:
    """All children of that name and no prefix, in the file's order."""
    return [x for x in element.iterchildren(f"{{*}}{name}") if x.prefix is None]


def prefixed(element: Element, name: str) -> Element | None:
    """The first child whose name is written `prefix:name`, its prefix declared or not."""
    return next((x for x in element.iterchildren("{*}*") if full_tag(x) == name), None)


def line(element: Element) -> int | None:
    """The element's line in its file, from 1."""
    number: Any = element.sourceline
    return number
