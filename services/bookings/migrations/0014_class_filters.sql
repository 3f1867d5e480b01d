-- One index for each combination of the filters instructor_id, class_type_id and room_id. Location and status come
-- next, so that a page is one short scan per location and status (store/keyset_pages.py), then the list's order.
-- Partial: a class without an instructor, a type or a room costs nothing there.
CREATE INDEX classes_by_instructor ON classes (studio_id, instructor_id, location_id, status, start_time, id)
    WHERE instructor_id IS NOT NULL;
CREATE INDEX classes_by_type ON classes (studio_id, class_type_id, location_id, status, start_time, id)
    WHERE class_type_id IS NOT NULL;
CREATE INDEX classes_by_room ON classes (studio_id, room_id, location_id, status, start_time, id)
    WHERE room_id IS NOT NULL;
CREATE INDEX classes_by_instructor_and_type
    ON classes (studio_id, instructor_id, class_type_id, location_id, status, start_time, id)
    WHERE instructor_id IS NOT NULL AND class_type_id IS NOT NULL;
CREATE INDEX classes_by_instructor_and_room
    ON classes (studio_id, instructor_id, room_id, location_id, status, start_time, id)
    WHERE instructor_id IS NOT NULL AND room_id IS NOT NULL;
CREATE INDEX classes_by_type_and_room
    ON classes (studio_id, class_type_id, room_id, location_id, status, start_time, id)
    WHERE class_type_id IS NOT NULL AND room_id IS NOT NULL;
CREATE INDEX classes_by_instructor_type_and_room
    ON classes (studio_id, instructor_id, class_type_id, room_id, location_id, status, start_time, id)
    WHERE instructor_id IS NOT NULL AND class_type_id IS NOT NULL AND room_id IS NOT NULL;
