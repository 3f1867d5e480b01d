-- `due_at`: when time alone changes the membership's status. rules/eligibility.py says to what.
CREATE OR REPLACE FUNCTION set_membership_due() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.due_at := CASE WHEN NEW.status NOT IN ('cancelled', 'expired') THEN least(
        (NEW.cancellation ->> 'effective_at')::timestamptz,
        CASE WHEN NEW.status = 'pending' THEN NEW.starts_at END,
        CASE WHEN NEW.status = 'paused' THEN (NEW.pause ->> 'resumes_at')::timestamptz END,
        CASE WHEN NEW.status = 'active' AND NOT NEW.auto_renew THEN NEW.ends_at END) END;
    RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER memberships_due BEFORE INSERT OR UPDATE ON memberships
    FOR EACH ROW EXECUTE FUNCTION set_membership_due();
