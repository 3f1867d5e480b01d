-- Copies that the import hands to every service that needs them: this one's share of studio, location and product.
CREATE TABLE studios (
    id                  uuid PRIMARY KEY,
    late_window_minutes integer       NOT NULL DEFAULT 720 CHECK (late_window_minutes BETWEEN 0 AND 525600),
    late_fee_amount     numeric(14, 4) CHECK (late_fee_amount >= 0),
    late_fee_currency   text,
    forfeit_credit      boolean       NOT NULL DEFAULT false,
    CONSTRAINT studios_fee_has_currency CHECK (late_fee_currency IS NOT NULL OR coalesce(late_fee_amount, 0) = 0)
);

CREATE TABLE locations (
    studio_id uuid NOT NULL,
    id        uuid NOT NULL,
    PRIMARY KEY (studio_id, id)
);

CREATE TABLE products (
    studio_id       uuid NOT NULL,
    id              uuid NOT NULL,
    key             text NOT NULL,
    product_type    text NOT NULL,
    credits_granted integer CHECK (credits_granted >= 0),
    PRIMARY KEY (studio_id, id)
);
