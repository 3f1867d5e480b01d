-- For phone numbers written as they are dialled in the studio's country. A studio that was there already has none
-- until its line is imported again; until then its members' numbers need their country code.
ALTER TABLE studios ADD COLUMN timezone text;
