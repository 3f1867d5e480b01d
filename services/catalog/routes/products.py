"""Products with their prices."""

from services.catalog.context import Catalog
from services.catalog.store import products
from services.catalog.wire.product import Product, ProductsQuery
from shared.errors import InvalidCursor, NotFound
from shared.http.pages import Page
from shared.http.routes import Call, Route


async def list_products(catalog: Catalog, call: Call[ProductsQuery, None]) -> Page[Product]:
    async with catalog.db.connection() as conn:
        return await products.page(conn, call.caller, call.query)


async def get_product(catalog: Catalog, call: Call[None, None]) -> Product:
    async with catalog.db.connection() as conn:
        return await products.get(conn, call.caller, call.path["product_id"])


ROUTES: list[Route[Catalog]] = [
    Route(
        method="GET",
        path="/products",
        handler=list_products,
        summary="List products with their prices",
        query=ProductsQuery,
        answer=Page[Product],
        errors=(InvalidCursor,),
        tag="Catalog",
    ),
    Route(
        method="GET",
        path="/products/{product_id}",
        handler=get_product,
        summary="Read a product with all its prices",
        answer=Product,
        errors=(NotFound,),
        tag="Catalog",
    ),
]
