-- +goose Up

-- The PDBs and images that a team has. name and key are the file's place in a symbol store: name/KEY/name.
create table symbol_files (
    id            bigint generated always as identity primary key,
    kind          text not null check (kind in ('pdb', 'image')),
    name          text not null,
    folded        text not null,   -- name in lower case: what that is must not depend on the database's locale
    key           text not null,
    debug_id      text not null,   -- of the PDB, or of the PDB that an image names; ''
    pdb           text not null,
    timestamp     bigint not null,
    size_of_image bigint not null, -- 0 unknown
    bits          int not null,    -- 0 unknown
    machine       text not null,
    symbols       text not null,
    note          text not null,
    sha256        text not null,   -- the blob
    bytes         bigint not null,
    origin        text not null check (origin in ('upload', 'server')),
    "group"       text not null,
    uploaded_at   timestamptz not null default now()
);
create unique index symbol_files_by_key on symbol_files (folded, lower(key));
create index symbol_files_by_debug_id on symbol_files (lower(debug_id)) where debug_id <> '';
create index symbol_files_by_time on symbol_files (uploaded_at, id);

-- What a run's report says about its modules. bits are those of the process.
create table run_modules (
    run_id      bigint not null references runs on delete cascade,
    ordinal     int not null,
    name        text not null,   -- file name
    stem        text not null,   -- as that of modules
    pdb         text not null,
    debug_id    text not null,   -- of the PDB that was used, else as the evidence has it
    size        bigint not null,
    bits        int not null,
    symbols     text not null,
    match       text not null,
    own         boolean not null,
    unproven    boolean not null,
    frames      bigint not null,
    unnamed     bigint not null,
    stake_count bigint not null,
    stake_bytes bigint not null,
    tried       jsonb not null,
    primary key (run_id, ordinal)
);

-- A symbol file finds the runs that want it by the name of their modules: the file name in lower case, without its extension.
alter table modules add column stem text not null default '';
update modules set stem = lower(regexp_replace(regexp_replace(path, '^.*[\\/]', ''), '\.[^.]*$', ''));
alter table modules alter column stem drop default;
create index modules_by_stem on modules (stem);
-- The stem of the PDB where evidence names it without its id and it is another than the module's; else ''.
alter table modules add column pdb_stem text not null default '';
create index modules_by_pdb_stem on modules (pdb_stem) where pdb_stem <> '';
create index modules_by_debug_id on modules (lower(debug_id)) where debug_id <> '';

-- input_rev counts what a report can rest on: captures that were read and names that were found for them.
alter table runs rename column captures_rev to input_rev;
alter table runs
    add column names_key   text not null default '',  -- blob of the names
    add column names_begun bigint not null default 0, -- searches for symbols that began
    add column names_rev   bigint not null default 0, -- which of them gave the names
    add column names_error text not null default '';  -- why the last one gave none

alter table jobs drop constraint jobs_kind_check, add constraint jobs_kind_check check (kind in ('read', 'symbolise', 'analyse'));
-- One queued job of a run is enough for these: it will see everything that is there when it starts.
drop index jobs_one_analysis;
create unique index jobs_one_queued on jobs (run_id, kind) where kind in ('symbolise', 'analyse') and state = 'queued';

-- +goose Down
drop index jobs_one_queued;
create unique index jobs_one_analysis on jobs (run_id) where kind = 'analyse' and state = 'queued';
-- The analysis that would have followed a search is still to be done.
insert into jobs (kind, run_id) select distinct 'analyse', run_id from jobs where kind = 'symbolise' and state in ('queued', 'running') on conflict do nothing;
delete from jobs where kind = 'symbolise';
alter table jobs drop constraint jobs_kind_check, add constraint jobs_kind_check check (kind in ('read', 'analyse'));
alter table runs drop column names_key, drop column names_begun, drop column names_rev, drop column names_error;
alter table runs rename column input_rev to captures_rev;
drop index modules_by_debug_id;
alter table modules drop column stem, drop column pdb_stem;
drop table run_modules, symbol_files;
