-- Refuses an import line. The hint is the sentence that the import's report shows.
CREATE OR REPLACE FUNCTION refuse_line(sentence text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'line refused' USING ERRCODE = 'check_violation', CONSTRAINT = 'line_refused', HINT = sentence;
END $$;

-- A booking or waitlist entry that is imported again keeps its class and its member.
CREATE OR REPLACE FUNCTION same_class_and_member(same boolean, class_id uuid) RETURNS uuid LANGUAGE plpgsql AS $$
BEGIN
    IF NOT same THEN
        RAISE EXCEPTION 'another class or member' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'keeps_its_class_and_member';
    END IF;
    RETURN class_id;
END $$;

-- A membership or purchase that is imported again keeps its member: what it granted was granted there.
CREATE OR REPLACE FUNCTION same_member(before uuid, after uuid) RETURNS uuid LANGUAGE plpgsql AS $$
BEGIN
    IF before <> after THEN
        PERFORM refuse_line('It belongs to another member, with whom it stays.');
    END IF;
    RETURN after;
END $$;
