"""What is received beside the models: pages, what is newer than this package, and what was not given."""

from collections.abc import Callable
from functools import cached_property
from types import UnionType
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

import msgspec
from msgspec import UNSET, Struct, UnsetType

__all__ = ["UNSET", "OneOf", "Page", "Reader", "ShownOnce", "Unknown", "UnsetType", "first_that_fits"]

T = TypeVar("T")


class Unknown(str):
    """Something newer than this package: the text of an enum's value, or an event, whose text is its kind.

    `raw` is all that was received.
    """

    raw: Any

    def __new__(cls, text: str, raw: Any = None) -> Self:
        self = super().__new__(cls, text)
        self.raw = text if raw is None else raw
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy is made from all that was received."""
        return type(self), (str(self), self.raw)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


class Page(Struct, Generic[T], frozen=True, kw_only=True):
    """Some rows of a list. Pass `next_cursor` as `cursor` for the next ones; `iter_…` does it for you."""

    data: list[T]
    has_more: bool
    next_cursor: str | None


# A text that only the first response shows. A replay has null there, and raises SecretLost.
if TYPE_CHECKING:
    ShownOnce = str
else:
    ShownOnce = str | None


class Reader(Generic[T]):
    """Reads one type. Its decoder is made when it is first needed: most programs use few of them."""

    def __init__(self, type: type[T] | UnionType) -> None:
        self._type = type

    @cached_property
    def decode(self) -> Callable[[bytes], T]:
        return msgspec.json.Decoder(self._type, dec_hook=first_that_fits).decode

    def __call__(self, content: bytes) -> T:
        return self.decode(content)


class OneOf(type):
    """Stands for a union of structs that have no tag, which msgspec does not read: a class with its `options`."""

    options: tuple[type[Struct], ...]

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, cls.options)


def first_that_fits(type: type[Any], value: Any) -> Any:
    """An event carries a resource, or a reference to it: the first option that has all its fields."""
    if not isinstance(type, OneOf):
        raise NotImplementedError(type)
    *whole, reference = type.options
    for option in whole:
        try:
            return msgspec.convert(value, option)
        except msgspec.ValidationError:
            continue
    return msgspec.convert(value, reference)
