-- The import hands every service its copy of a studio; forms needs its time zone, which tells the country whose
-- own way of writing phone numbers is understood.
CREATE TABLE studios (
    id       uuid PRIMARY KEY,
    timezone text
);
