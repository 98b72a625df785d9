"""Models of SDF, one in another: where their links, joints and frames are, and on what they sit.

Every name stands for a frame. A frame is placed relative to another one of its model, and is
attached to a link; `a::b` is b of the nested model a.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import final

import numpy as np

from closedform.model.formats.sdf.source import SdfFile
from closedform.model.formats.xml import Element, child, children, tag
from closedform.model.pose import inverse

MAX_DEPTH = 16
MODEL, WORLD = "__model__", "world"


@final
@dataclass(eq=False)
class Scope:
    """A model, or the world with its models; `prefix` stands before the names of its links."""

    source: SdfFile
    element: Element
    prefix: str = ""
    parent: Scope | None = None
    include: Element | None = None
    links: dict[str, Element] = field(default_factory=dict)
    joints: dict[str, Element] = field(default_factory=dict)
    frames: dict[str, Element] = field(default_factory=dict)
    models: dict[str, Scope] = field(default_factory=dict)
    merged: list[Scope] = field(default_factory=list)
    known: dict[str, np.ndarray] = field(default_factory=dict)
    open: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.depth: int = self.parent.depth + 1 if self.parent else 0
        if self.depth > MAX_DEPTH:
            raise self.source.fault(self.element, f"models stand in each other more than "
                                                  f"{MAX_DEPTH} deep: does one include itself?")
        kinds = {"link": self.links, "joint": self.joints, "frame": self.frames}
        for element in self.element.iterchildren("{*}*"):
            kind = tag(element)
            if element.prefix is None and kind in kinds:
                self.add(kinds[kind], self.source.name(element), element)
            elif kind in ("model", "include") and element.prefix is None:
                self.nest(element)

    def add(self, known: dict[str, Element], name: str, element: Element) -> None:
        if name in known or (known is not self.joints and (name in self.links
                                                           or name in self.frames)):
            raise self.source.fault(element, f"the name {name!r} is taken twice in this model")
        known[name] = element

    def nest(self, element: Element) -> None:
        """A model that stands in this one, or is included."""
        source, model, include = self.source, element, None
        if tag(element) == "include":
            include, source = element, self.source.included(element)
            found = children(source.root, "model")
            if len(found) != 1:
                raise self.source.fault(element, f"{source.file} has {len(found)} models; one is "
                                                 "expected in a file that is included")
            model = found[0]
        name = self.source.text(include, "name") or source.name(model)
        if include is not None and include.get("merge", "").lower() in ("1", "true"):
            self.merged.append(Scope(source, model, self.prefix, self, include))
            return
        if name in self.models:
            raise self.source.fault(element, f"the name {name!r} is taken twice in this model")
        # a model that is alone in its file needs no prefix
        alone = self.parent is None and len(_models(self.element)) == 1
        prefix = "" if alone else f"{self.prefix}{name}::"
        self.models[name] = Scope(source, model, prefix, self, include)

    @property
    def inner(self) -> Iterator[Scope]:
        """The models in this one."""
        yield from self.models.values()
        yield from self.merged

    def walk(self) -> Iterator[Scope]:
        """This scope and all in it."""
        yield self
        for scope in self.inner:
            yield from scope.walk()

    @property
    def static(self) -> bool:
        own = self.source.truth(self.element, "static")
        stated = self.parent.source.truth(self.include, "static", own) if self.parent else own
        return stated or (self.parent is not None and self.parent.static)

    # ------------------------------------------------------------------ where
    @property
    def in_world(self) -> np.ndarray:
        """The pose of this model's frame in the world."""
        return self.parent.in_world @ self.parent.of_model(self) if self.parent else np.eye(4)

    def at(self, name: str) -> np.ndarray:
        """The pose of a link, joint, frame or nested model in this model's frame."""
        chain: dict[str, np.ndarray] = {}
        while name not in self.known and (own := self.written(name)) is not None:
            if name in chain:
                raise self.source.fault(self.element, f"the pose of {name!r} is relative to itself")
            chain[name], name = own
        T = self.known[name] if name in self.known else self._beside(name)
        for link, own_pose in reversed(chain.items()):
            T = self.known[link] = T @ own_pose
        return T

    def written(self, name: str) -> tuple[np.ndarray, str] | None:
        """The pose of a link, frame or joint as it is written, and what it is relative to."""
        for found in (self.links, self.frames, self.joints):
            if name in found:
                T, relative = self.source.pose(found[name])
                default = (found[name].get("attached_to") if found is self.frames else
                           self.source.text(found[name], "child") if found is self.joints else "")
                return T, relative or default or ""
        return None

    def _beside(self, name: str) -> np.ndarray:
        """The pose of this model itself, of another one in it, or of what is in that."""
        if name in ("", MODEL) or (self.parent is None and name == WORLD):
            return np.eye(4)
        model, _, rest = name.partition("::")
        if model in self.models:
            if model in self.open:
                raise self.source.fault(self.element, f"the pose of {name!r} is relative to itself")
            self.open.add(model)
            T = self.of_model(self.models[model]) @ self.models[model].at(rest)
            self.open.remove(model)
            return T
        for scope in self.merged:
            if scope.has(name):
                return self.of_model(scope) @ scope.at(name)
        raise self.source.fault(self.element, f"model {self.element.get('name')!r}: {name!r} is "
                                              "no link, joint, frame or model in it")

    def of_model(self, scope: Scope) -> np.ndarray:
        """The pose of a model's frame in this one: that of its placement frame, taken back."""
        given = scope.include if scope.include is not None else scope.element
        if child(given, "pose") is not None and given is not scope.element:
            T, relative = self.source.pose(given)
        else:
            T, relative = scope.source.pose(scope.element)
        frame = (self.source.text(scope.include, "placement_frame")
                 or scope.element.get("placement_frame") or "")
        return self.at(relative) @ T @ inverse(scope.at(frame)) if frame else self.at(relative) @ T

    def has(self, name: str) -> bool:
        return (name in {*self.links, *self.joints, *self.frames, *self.models}
                or name.partition("::")[0] in self.models or any(s.has(name) for s in self.merged))

    # ------------------------------------------------------------------ on what
    def link(self, name: str) -> tuple[Scope, str] | None:
        """The link that a name is attached to, with its scope; None for the world."""
        passed: set[str] = set()
        while name not in self.links:
            if name in passed:
                raise self.source.fault(self.element, f"{name!r} is attached to itself")
            passed.add(name)
            if name in self.frames:
                name = self.frames[name].get("attached_to") or MODEL
            elif name in self.joints:
                name = self.source.text(self.joints[name], "child")
            elif name in ("", MODEL) and self.parent is not None:
                name = self.canonical()
            elif name in ("", MODEL, WORLD):
                return None
            else:
                return self._inner_link(name)
        return self, name

    def _inner_link(self, name: str) -> tuple[Scope, str] | None:
        model, _, rest = name.partition("::")
        for scope in self.merged:
            if scope.has(name):
                return scope.link(name)
        if model not in self.models:
            self._beside(name)  # raises: there is no such name
        return self.models[model].link(rest)

    def canonical(self) -> str:
        """The link that the model's frame is attached to: the one it names, or the first."""
        named = self.element.get("canonical_link") or next(iter((*self.links, *self.models)), "")
        for scope in self.merged if not named else ():
            return scope.canonical()
        if not named:
            raise self.source.fault(self.element, f"model {self.element.get('name')!r} has no link")
        return named


def _models(element: Element) -> list[Element]:
    return [*children(element, "model"), *children(element, "include")]
