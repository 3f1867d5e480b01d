"""This service's rows as import lines, referenced kinds first."""

from shared.transfer.exporting import Section, section

STUDIOS = Section(
    "studio",
    """
SELECT id, name, slug, timezone, logo_url, primary_color, version, created_at,
    created_at AS place FROM studios
WHERE id = $1 AND $2::timestamptz IS NULL AND $3::uuid IS NOT NULL AND $4::uuid IS NULL AND $5::text IS NULL
""",
)
# A product's line contains all its prices.
PRICES = """
(SELECT coalesce(json_agg(json_build_object(
        'id', p.id, 'amount', p.amount::text, 'currency', p.currency, 'price_type', p.price_type,
        'interval', p.interval, 'default', p.is_default, 'active', p.active) ORDER BY p.place, p.id), '[]')
    FROM prices p WHERE p.studio_id = t.studio_id AND p.product_id = t.id)::text AS prices
"""
SECTIONS = (
    STUDIOS,
    section("location", "locations", "name, city, state, timezone, active, is_primary, version, created_at"),
    section("room", "rooms", "location_id, name, capacity, active, version, created_at"),
    section("class_type", "class_types", "name, description, beginner_safe, recovery, version, created_at"),
    section("instructor", "instructors", "name, tagline, tags, active, version, created_at"),
    section(
        "product",
        "products",
        f"key, name, product_type, active, client_visible, credits_granted, {PRICES}, version, created_at",
        json=("prices",),
    ),
)
