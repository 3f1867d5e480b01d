-- A refusal of our own: the hint is the sentence that the import's report shows.
CREATE FUNCTION refuse_line(sentence text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'line refused' USING ERRCODE = 'check_violation', CONSTRAINT = 'line_refused', HINT = sentence;
END $$;
