-- The member row is the lock of the member's credits and memberships.
CREATE TABLE members (
    studio_id             uuid        NOT NULL,
    id                    uuid        NOT NULL,
    name                  text        NOT NULL,
    first_name            text        NOT NULL,
    last_name             text        NOT NULL,
    email                 text,
    phone                 text,
    role                  text        NOT NULL DEFAULT 'member',
    membership_type       text,
    membership_start_date timestamptz,
    membership_end_date   timestamptz,
    suspended             boolean     NOT NULL DEFAULT false,
    credits               bigint      NOT NULL DEFAULT 0 CONSTRAINT members_credits_not_negative CHECK (credits >= 0),
    created_at            timestamptz NOT NULL,
    version               integer     NOT NULL DEFAULT 1,
    PRIMARY KEY (studio_id, id)
) WITH (fillfactor = 90);
CREATE INDEX members_by_creation ON members (studio_id, created_at, id);
CREATE UNIQUE INDEX members_one_per_email ON members (studio_id, email);

CREATE TABLE memberships (
    studio_id     uuid        NOT NULL,
    id            uuid        NOT NULL,
    member_id     uuid        NOT NULL,
    product_id    uuid        NOT NULL,
    status        text        NOT NULL
        CHECK (status IN ('pending', 'active', 'paused', 'past_due', 'cancelled', 'expired')),
    auto_renew    boolean     NOT NULL,
    state_version integer     NOT NULL DEFAULT 1 CHECK (state_version >= 0),
    starts_at     timestamptz,
    ends_at       timestamptz,
    pause         jsonb,
    cancellation  jsonb,
    created_at    timestamptz NOT NULL,
    due_at        timestamptz,
    PRIMARY KEY (studio_id, id),
    FOREIGN KEY (studio_id, member_id) REFERENCES members (studio_id, id)
);
CREATE INDEX memberships_by_member ON memberships (studio_id, member_id, created_at, id);
CREATE INDEX memberships_due ON memberships (due_at) WHERE due_at IS NOT NULL;

-- `due_at`: when time alone gives the membership another status (rules/membership_time.py says which).
CREATE FUNCTION set_membership_due() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.due_at := CASE WHEN NEW.status NOT IN ('cancelled', 'expired') THEN least(
        (NEW.cancellation ->> 'effective_at')::timestamptz,
        CASE WHEN NEW.status = 'paused' THEN (NEW.pause ->> 'resumes_at')::timestamptz END,
        CASE WHEN NEW.status = 'active' AND NOT NEW.auto_renew THEN NEW.ends_at END) END;
    RETURN NEW;
END $$;
CREATE TRIGGER memberships_due BEFORE INSERT OR UPDATE ON memberships
    FOR EACH ROW EXECUTE FUNCTION set_membership_due();

-- `credits_granted` is null until the purchase has granted: what was granted once is never granted again.
CREATE TABLE purchases (
    studio_id       uuid        NOT NULL,
    id              uuid        NOT NULL,
    member_id       uuid        NOT NULL,
    product_id      uuid,
    product_key     text        NOT NULL,
    product_type    text        NOT NULL,
    quantity        integer     NOT NULL CHECK (quantity >= 0),
    amount_total    numeric(14, 4),
    currency        text,
    refunded_amount numeric(14, 4),
    status          text CHECK (
        status IN ('pending', 'completed', 'failed', 'cancelled', 'partially_refunded', 'refunded')),
    location_id     uuid,
    credits_granted bigint CHECK (credits_granted >= 0),
    created_at      timestamptz NOT NULL,
    PRIMARY KEY (studio_id, id),
    FOREIGN KEY (studio_id, member_id) REFERENCES members (studio_id, id)
);
CREATE INDEX purchases_by_creation ON purchases (studio_id, created_at, id);
CREATE INDEX purchases_by_member ON purchases (studio_id, member_id, created_at, id);
CREATE INDEX purchases_by_location ON purchases (studio_id, location_id, created_at, id);
CREATE INDEX purchases_to_grant ON purchases (studio_id, product_id)
    WHERE status = 'completed' AND credits_granted IS NULL;
