"""Field types with limits: a value too large for its column is a 422 and never reaches the database."""

from decimal import Decimal
from typing import Annotated

from msgspec import Meta

Name = Annotated[str, Meta(min_length=1, max_length=200)]
ShortText = Annotated[str, Meta(max_length=200)]
LongText = Annotated[str, Meta(max_length=5000)]
Currency = Annotated[
    str, Meta(pattern=r"^[A-Z]{3}(?![\s\S])", description="ISO 4217 code.", examples=["USD"])
]
Reason = Annotated[str, Meta(max_length=500)]
Count = Annotated[int, Meta(ge=0, le=100_000)]
Money = Annotated[
    str,
    Meta(
        pattern=r"^[0-9]{1,10}(\.[0-9]{1,4})?(?![\s\S])",
        description="A decimal number in a string.",
        examples=["15.00"],
    ),
]


def format_money(amount: Decimal | None) -> str | None:
    """At least two decimal places, no exponent: `15` becomes `15.00`, `0.125` stays as it is."""
    if amount is None:
        return None
    return f"{amount:.2f}" if amount == round(amount, 2) else f"{amount.normalize():f}"


def parse_money(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)
