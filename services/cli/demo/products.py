"""What the studio sells: packs with credits, a recurring membership, and one that is no longer sold."""

from collections.abc import Iterator

from msgspec import Struct

from services.cli.demo.ids import Line, demo_id, line


class DemoPrice(Struct, frozen=True):
    amount: str
    interval: str = ""
    default: bool = True
    active: bool = True


class DemoProduct(Struct, frozen=True):
    name: str
    product_type: str
    prices: tuple[DemoPrice, ...]
    credits_granted: int | None = None
    active: bool = True
    client_visible: bool = True


PRODUCTS: dict[str, DemoProduct] = {
    "intro-3": DemoProduct("Intro Pack: 3 Classes", "package", (DemoPrice("49.00"),), 3),
    "pack-5": DemoProduct("5-Class Pack", "package", (DemoPrice("110.00"),), 5),
    "pack-10": DemoProduct(
        "10-Class Pack",
        "package",
        (DemoPrice("200.00"), DemoPrice("180.00", default=False, active=False)),
        10,
    ),
    "unlimited": DemoProduct(
        "Unlimited Membership",
        "membership",
        (DemoPrice("169.00", "month"), DemoPrice("1690.00", "year", default=False)),
    ),
    "staff-guest": DemoProduct("Guest of Staff", "package", (DemoPrice("0.00"),), 1, client_visible=False),
    "summer-pass": DemoProduct("Summer Pass 2026", "package", (DemoPrice("99.00"),), 6, active=False),
}


def product_lines() -> Iterator[Line]:
    for key, product in PRODUCTS.items():
        yield line(
            "product",
            key,
            key=key,
            name=product.name,
            product_type=product.product_type,
            active=product.active,
            client_visible=product.client_visible,
            credits_granted=product.credits_granted,
            prices=[_price(key, number, price) for number, price in enumerate(product.prices)],
        )


def _price(key: str, number: int, price: DemoPrice) -> Line:
    return {
        "id": demo_id("price", f"{key}/{number}"),
        "amount": price.amount,
        "currency": "USD",
        "price_type": "recurring" if price.interval else "one_time",
        "interval": price.interval,
        "default": price.default,
        "active": price.active,
    }
