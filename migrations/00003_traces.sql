-- +goose Up

-- Files that are one trace are read together: their captures hang on the newest of them, and the others name it here.
alter table evidence add column read_with bigint references evidence on delete set null;
create index evidence_read_with on evidence (read_with) where read_with is not null;
-- How often a file was read, and whether it is being read.
create index jobs_by_evidence on jobs (evidence_id) where evidence_id is not null;

-- The allocation table of the trace that a capture was read from; '' for snapshots.
alter table captures
    add column table_key        text not null default '',   -- blob
    add column table_bytes      bigint not null default 0,
    add column table_site_count int not null default 0,     -- of all processes
    add column began_ns         bigint,                     -- when the process began in the trace; null before it, and for snapshots
    add column held_bytes       bigint not null default 0;  -- by which the process that holds most is known: also what was held at its exit
update captures set held_bytes = outstanding_bytes;

-- Which process the report is to be about: a name, a pid, or pid#n; '' for the one that holds most.
alter table runs add column process text not null default '';

-- The table that the numbers of the stored report's sites are of: captures may have been read again meanwhile.
alter table runs
    add column table_key        text not null default '',   -- blob; '' where the report is of snapshots
    add column table_bytes      bigint not null default 0,
    add column table_site_count int not null default 0;

-- What only traces tell of a site, over the whole trace; null for snapshots. What was allocated inside is aifo + aifi,
-- what was freed inside aifi + aofi.
alter table sites
    add column aifo_count    bigint,
    add column aifo_bytes    bigint,
    add column aifi_count    bigint,
    add column aifi_bytes    bigint,
    add column aofi_count    bigint,
    add column aofi_bytes    bigint,
    add column aofo_count    bigint,
    add column aofo_bytes    bigint,
    add column at_exit_count bigint,
    add column at_exit_bytes bigint,
    add column unknown_frees bigint,
    add column peak_count    bigint,
    add column peak_bytes    bigint,
    add column peak_at_ns    bigint,
    add column table_sites   int[] not null default '{}'; -- numbers in the allocation table

-- +goose Down
drop index jobs_by_evidence;
alter table sites
    drop column aifo_count, drop column aifo_bytes, drop column aifi_count, drop column aifi_bytes,
    drop column aofi_count, drop column aofi_bytes, drop column aofo_count, drop column aofo_bytes,
    drop column at_exit_count, drop column at_exit_bytes, drop column unknown_frees,
    drop column peak_count, drop column peak_bytes, drop column peak_at_ns, drop column table_sites;
alter table runs drop column table_key, drop column table_bytes, drop column table_site_count, drop column process;
alter table captures drop column table_key, drop column table_bytes, drop column table_site_count, drop column began_ns, drop column held_bytes;
drop index evidence_read_with;
alter table evidence drop column read_with;
