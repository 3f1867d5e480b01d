-- Keys are (studio_id, id), foreign keys included: no row can belong to another studio's.
-- `version` grows with each change. Events carry it, so that outdated ones can be ignored. A price belongs to its product.
CREATE TABLE studios (
    id uuid PRIMARY KEY,
    name text NOT NULL,
    slug text UNIQUE,
    timezone text,
    logo_url text,
    primary_color text,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    version integer NOT NULL DEFAULT 1
);

CREATE TABLE locations (
    studio_id uuid NOT NULL REFERENCES studios (id),
    id uuid NOT NULL,
    name text NOT NULL,
    city text NOT NULL,
    state text NOT NULL,
    timezone text NOT NULL,
    active boolean NOT NULL,
    is_primary boolean NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    version integer NOT NULL DEFAULT 1,
    PRIMARY KEY (studio_id, id)
);
CREATE INDEX locations_in_order ON locations (studio_id, created_at, id);

CREATE TABLE rooms (
    studio_id uuid NOT NULL,
    id uuid NOT NULL,
    location_id uuid NOT NULL,
    name text NOT NULL,
    capacity integer NOT NULL CONSTRAINT room_capacity_not_negative CHECK (capacity >= 0),
    active boolean NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    version integer NOT NULL DEFAULT 1,
    PRIMARY KEY (studio_id, id),
    CONSTRAINT room_location FOREIGN KEY (studio_id, location_id) REFERENCES locations (studio_id, id)
);
CREATE INDEX rooms_in_order ON rooms (studio_id, created_at, id);
CREATE INDEX rooms_of_location_in_order ON rooms (studio_id, location_id, created_at, id);

CREATE TABLE class_types (
    studio_id uuid NOT NULL REFERENCES studios (id),
    id uuid NOT NULL,
    name text NOT NULL,
    description text,
    beginner_safe boolean,
    recovery boolean,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    version integer NOT NULL DEFAULT 1,
    PRIMARY KEY (studio_id, id)
);
CREATE INDEX class_types_in_order ON class_types (studio_id, created_at, id);

CREATE TABLE instructors (
    studio_id uuid NOT NULL REFERENCES studios (id),
    id uuid NOT NULL,
    name text NOT NULL,
    tagline text NOT NULL,
    tags text[] NOT NULL,
    active boolean NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    version integer NOT NULL DEFAULT 1,
    PRIMARY KEY (studio_id, id)
);
-- The list shows active ones only; a cursor may name one that has left since, found by the primary key.
CREATE INDEX active_instructors_in_order ON instructors (studio_id, created_at, id) WHERE active;

CREATE TABLE products (
    studio_id uuid NOT NULL REFERENCES studios (id),
    id uuid NOT NULL,
    key text NOT NULL,
    name text NOT NULL,
    product_type text NOT NULL,
    active boolean NOT NULL,
    client_visible boolean NOT NULL,
    credits_granted integer CONSTRAINT product_credits_not_negative CHECK (credits_granted >= 0),
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    version integer NOT NULL DEFAULT 1,
    PRIMARY KEY (studio_id, id),
    CONSTRAINT product_key UNIQUE (studio_id, key)
);
CREATE INDEX products_in_order ON products (studio_id, active, created_at, id);

CREATE TABLE prices (
    studio_id uuid NOT NULL,
    id uuid NOT NULL,
    product_id uuid NOT NULL,
    amount numeric NOT NULL CONSTRAINT price_not_negative CHECK (amount >= 0),
    currency text NOT NULL,
    price_type text NOT NULL,
    interval text NOT NULL,
    is_default boolean NOT NULL,
    active boolean NOT NULL,
    place integer NOT NULL,
    PRIMARY KEY (studio_id, id),
    CONSTRAINT price_product FOREIGN KEY (studio_id, product_id) REFERENCES products (studio_id, id)
);
CREATE INDEX prices_of_product ON prices (studio_id, product_id, place);
