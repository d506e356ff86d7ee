-- +goose Up

-- How long a project keeps what it has, as JSON; an absent field is the server's setting, 0 is for ever.
alter table projects add column retention jsonb not null default '{}';

-- A legal hold: while held_at is set, nothing of the run or project is deleted.
alter table projects add column held_at timestamptz, add column held_by text not null default '', add column held_reason text not null default '';
alter table runs add column held_at timestamptz, add column held_by text not null default '', add column held_reason text not null default '';
create index runs_held on runs (id) where held_at is not null;

-- What was deleted, so that it is deleted again after a restore: a run ('' for the digest), a file of a run by hand, or
-- one that its retention deleted.
create table tombstones (
    run_id      bigint not null,
    sha256      text not null default '',
    what        text not null check (what in ('run', 'file', 'expired')),
    deleted_at  timestamptz not null default clock_timestamp(),
    exported_at timestamptz,
    primary key (run_id, sha256)
);
create index tombstones_to_export on tombstones (deleted_at) where exported_at is null;

-- What life cycle rules have freed, by day (UTC).
create table freed (
    day     date not null,
    what    text not null,
    files   bigint not null default 0,
    bytes   bigint not null default 0,
    last_at timestamptz not null default now(),
    primary key (day, what)
);

-- When a round of work that one worker does for all was last begun.
create table rounds (
    what text primary key,
    at   timestamptz not null default now()
);

-- Whether anything refers to a blob is asked for each blob.
create index symbol_files_by_digest on symbol_files (sha256);
create index captures_by_artifact on captures (artifact);
create index captures_by_table on captures (table_key) where table_key <> '';
create index runs_by_report on runs (report_key) where report_key <> '';
create index runs_by_table on runs (table_key) where table_key <> '';
create index runs_by_names on runs (names_key) where names_key <> '';

-- Blobs that newer results replace become unwanted as those of deleted rows do.
-- +goose StatementBegin
create function replaced_blobs_of_run() returns trigger language plpgsql as $$
begin
    insert into unwanted_blobs (key) select distinct k from unnest(array[old.report_key, old.table_key, old.names_key]) k
    where k <> '' and k not in (new.report_key, new.table_key, new.names_key) on conflict (key) do update set at = now();
    return null;
end $$;
-- +goose StatementEnd
create trigger replaced_blobs after update of report_key, table_key, names_key on runs for each row
    when (old.report_key <> new.report_key or old.table_key <> new.table_key or old.names_key <> new.names_key) execute function replaced_blobs_of_run();

-- +goose StatementBegin
create function blob_of_symbol_file() returns trigger language plpgsql as $$
begin
    insert into unwanted_blobs (key) values ('sha256/' || left(old.sha256, 2) || '/' || old.sha256) on conflict (key) do update set at = now();
    return null;
end $$;
-- +goose StatementEnd
create trigger unwanted_blobs after delete on symbol_files for each row execute function blob_of_symbol_file();
create trigger replaced_blobs after update of sha256 on symbol_files for each row when (old.sha256 <> new.sha256) execute function blob_of_symbol_file();

-- +goose StatementBegin
create function evidence_expired() returns trigger language plpgsql as $$
begin
    insert into unwanted_blobs (key) values ('sha256/' || left(old.sha256, 2) || '/' || old.sha256) on conflict (key) do update set at = now();
    insert into tombstones (run_id, sha256, what) values (old.run_id, old.sha256, 'expired')
        on conflict (run_id, sha256) do update set what = excluded.what, deleted_at = excluded.deleted_at, exported_at = null;
    return null;
end $$;
-- +goose StatementEnd
create trigger expired after update of expired_at on evidence for each row when (old.expired_at is null and new.expired_at is not null) execute function evidence_expired();

-- +goose StatementBegin
create function tombstones_of_evidence() returns trigger language plpgsql as $$
begin
    insert into tombstones (run_id, sha256, what) select distinct run_id, sha256, 'file' from gone
        on conflict (run_id, sha256) do update set what = excluded.what, deleted_at = excluded.deleted_at, exported_at = null;
    return null;
end $$;
-- +goose StatementEnd
create trigger tombstones after delete on evidence referencing old table as gone for each statement execute function tombstones_of_evidence();

-- +goose StatementBegin
create function tombstones_of_runs() returns trigger language plpgsql as $$
begin
    insert into tombstones (run_id, what) select id, 'run' from gone
        on conflict (run_id, sha256) do update set what = excluded.what, deleted_at = excluded.deleted_at, exported_at = null;
    return null;
end $$;
-- +goose StatementEnd
create trigger tombstones after delete on runs referencing old table as gone for each statement execute function tombstones_of_runs();

-- Files that expired before, and whose content nobody has deleted yet.
insert into unwanted_blobs (key) select distinct 'sha256/' || left(sha256, 2) || '/' || sha256 from evidence where expired_at is not null and not dropped on conflict do nothing;

-- +goose Down
drop trigger tombstones on runs;
drop trigger tombstones on evidence;
drop trigger expired on evidence;
drop trigger replaced_blobs on symbol_files;
drop trigger unwanted_blobs on symbol_files;
drop trigger replaced_blobs on runs;
drop function tombstones_of_runs, tombstones_of_evidence, evidence_expired, blob_of_symbol_file, replaced_blobs_of_run;
drop index runs_by_names, runs_by_table, runs_by_report, captures_by_table, captures_by_artifact, symbol_files_by_digest;
drop table rounds, freed, tombstones;
alter table runs drop column held_at, drop column held_by, drop column held_reason;
alter table projects drop column held_at, drop column held_by, drop column held_reason, drop column retention;
