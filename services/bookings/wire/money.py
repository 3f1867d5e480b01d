"""Money on the wire is a decimal in a string."""

from decimal import Decimal


def format_money(amount: Decimal | None) -> str | None:
    """At least two decimal places, no exponent: `15` becomes `15.00`, `0.125` stays as it is."""
    if amount is None:
        return None
    return f"{amount:.2f}" if amount == round(amount, 2) else f"{amount.normalize():f}"


def parse_money(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)
