"""An XML text as a tree of elements, read so that nothing in it can name a file, a host, or more text than it has."""

from __future__ import annotations

from typing import Any, NamedTuple, NoReturn
from xml.parsers import expat

from workbench.errors import InputError


class Element(NamedTuple):
    """One element; text between elements is not kept."""

    tag: str
    attributes: dict[str, str]
    children: list[Element]
    line: int

    def all(self, tag: str) -> list[Element]:
        """Return every element of a tag below this one, in the order of the text."""
        result = []
        for child in self.children:
            result += [child, *child.all(tag)] if child.tag == tag else child.all(tag)
        return result


def xml_tree(text: bytes, where: str) -> Element:
    """Return the root of an XML text.

    >>> root = xml_tree(b'<system version="1"><cpu/></system>', "t.xml")
    >>> root.attributes, [child.tag for child in root.children]
    ({'version': '1'}, ['cpu'])
    >>> xml_tree(b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "t.xml")  # doctest: +NORMALIZE_WHITESPACE
    Traceback (most recent call last):
    workbench.errors.InputError: t.xml: declares a document type, which a topology never needs and which could make it
    expand without end; take the declaration out.

    Raises
    ------
    InputError
        It is no XML, or it declares a document type, without which there are no entities of its own.
    """
    top = Element("", {}, [], 0)
    open_elements = [top]
    parser = expat.ParserCreate()

    def start(tag: str, attributes: dict[str, str]) -> None:
        found = Element(tag, attributes, [], parser.CurrentLineNumber)
        open_elements[-1].children.append(found)
        open_elements.append(found)

    def refuse(*_: Any) -> NoReturn:
        raise InputError(
            f"{where}: declares a document type, which a topology never needs and which could make it expand without "
            "end; take the declaration out."
        )

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda _: open_elements.pop()
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(text, True)
    except expat.ExpatError as problem:
        raise InputError(f"{where}: is no whole XML ({problem}).") from None
    return top.children[0]
