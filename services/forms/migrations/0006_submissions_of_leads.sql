-- Which lead had the submitter's email at that moment. It finds the person's submissions when the person is erased,
-- also after the lead's email has changed; the lead's metadata cannot say it, since partners may write there.
ALTER TABLE form_submissions ADD COLUMN lead_id uuid;
CREATE INDEX form_submissions_of_lead ON form_submissions (studio_id, lead_id) WHERE lead_id IS NOT NULL;
