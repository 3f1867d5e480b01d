-- By how many partitions a replica counts (STUDIO_EVENT_PARTITIONS). Null for the previous release, which does not say.
ALTER TABLE lease_replicas ADD COLUMN partitions smallint;
