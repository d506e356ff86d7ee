-- +goose Up

-- Rules that say of frames whose they are, in the versions that a project had.
create table project_rules (
    project_id bigint not null references projects on delete cascade,
    version    int not null,
    text       text not null,
    author     text not null,
    note       text not null,
    at         timestamptz not null default now(),
    primary key (project_id, version)
);

-- A pinned build is a release; the baseline is the one that others are compared with.
alter table builds add column pinned boolean not null default false;
alter table projects add column baseline_id bigint references builds on delete set null;

-- A row says that a build changed its place among the others: what follows from the order is to be found again. Whoever
-- does that deletes it.
create table reordered (
    project_id bigint not null references projects on delete cascade
);
create index reordered_by_project on reordered (project_id);

-- How much work the process had done, in the unit of the run; when the file was to be deleted, and that it is.
alter table evidence
    add column work       double precision,
    add column expired_at timestamptz,
    add column dropped    boolean not null default false;
create index evidence_to_drop on evidence (sha256) where expired_at is not null and not dropped;
create index evidence_by_digest on evidence (sha256);
create index evidence_to_expire on evidence (uploaded_at, id) where expired_at is null;

-- What comparisons want to know of a run's evidence.
alter table runs
    add column work_unit text not null default '',
    add column trace     boolean not null default false,
    add column lossy     boolean not null default false,
    add column power     jsonb,                      -- the smallest leak that it would have shown
    add column seen      bytea not null default '';  -- the frames of its signatures, as compare.Seen has them

-- A signature is a leak's identity in a project. One that became part of another has alias_of, and root_id names the end
-- of that chain; of others root_id is their own id.
create table signatures (
    id             bigint generated always as identity primary key,
    project_id     bigint not null references projects on delete cascade,
    text           text not null,
    root_id        bigint not null,
    kind           text not null,
    title          text not null,
    blame          jsonb,                              -- the frame; null without a stack
    frames         text[] not null default '{}',       -- what it is made of, the one to blame first
    fine           text not null default '',           -- finer and coarser signatures, and the one without inlined calls
    leaf           text not null default '',
    outline        text not null default '',
    provisional    boolean not null default false,
    owner          text not null default '',           -- by the rules, as known and group
    known          text not null default '',
    "group"        text not null default '',
    described_id   bigint,                             -- the build whose run described it; null before it leaked or grew
    created_at     timestamptz not null default now(),

    alias_of       bigint references signatures on delete cascade,
    alias_by       text not null default '',           -- who merged it; '' where another signature of the same site did
    alias_at       timestamptz,
    alias_word     jsonb,                              -- the word of the other before, to take the merge back
    alias_version  bigint,                             -- the version of the other after it

    -- The team's word.
    version        bigint not null default 0,
    mark           text not null default '' check (mark in ('', 'known', 'fixed')),
    marked_by      text not null default '',
    reason         text not null default '',
    until          timestamptz,
    until_build    text not null default '',
    fixed_id       bigint references builds on delete set null,
    not_leak       boolean not null default false,
    assignee       text not null default '',
    ticket         text not null default '',
    comments       int not null default 0,             -- under this text

    -- What follows from the runs and the word; kept of roots that ever leaked or grew. Of others only class is.
    bad            boolean not null default false,
    state          text not null default '',           -- but for what is known, which ends by itself
    until_over     boolean not null default false,     -- it was bad in until_build or later
    worst          text not null default '',
    first_bad_id   bigint,                             -- builds
    last_clean_id  bigint,
    last_bad_id    bigint,
    last_seen_id   bigint,
    fixed_in_id    bigint,
    fixed_by_runs  boolean not null default false,
    regressed_id   bigint,
    scenarios      bigint[] not null default '{}',

    -- The gravest finding of the newest build that has it.
    class             text not null default '',
    score             double precision,
    certain           boolean not null default false,
    outstanding_count bigint not null default 0,
    outstanding_bytes bigint not null default 0,
    growth_count      bigint,
    growth_bytes      bigint,
    rate              jsonb,
    unique (project_id, text)
);
create index signatures_bad on signatures (project_id) where bad and alias_of is null;
-- The few that a comparison wants to know all about.
create index signatures_told on signatures (id) include (root_id) where bad or alias_of is not null;
create index signatures_by_score on signatures (project_id, score desc nulls last, id) where alias_of is null;
create index signatures_of_root on signatures (root_id);
create index signatures_by_outline on signatures (project_id, outline) where outline <> '' and (bad or alias_of is not null);
create index signatures_alias_of on signatures (alias_of) where alias_of is not null;

-- Where sites went when their run was analysed again: bytes that had one signature and have another now.
create table signature_moves (
    from_id bigint not null references signatures on delete cascade,
    to_id   bigint not null references signatures on delete cascade,
    weight  numeric not null,
    primary key (from_id, to_id)
);
create index signature_moves_to on signature_moves (to_id);

create table signature_comments (
    id           bigint generated always as identity primary key,
    signature_id bigint not null references signatures on delete cascade,
    actor        text not null,
    text         text not null,
    at           timestamptz not null default now()
);
create index signature_comments_of on signature_comments (signature_id, id);

create table signature_audit (
    id           bigint generated always as identity primary key,
    signature_id bigint not null references signatures on delete cascade,
    actor        text not null,          -- '' where runs did it
    action       text not null,
    before       jsonb not null,
    after        jsonb not null,
    at           timestamptz not null default now()
);
create index signature_audit_of on signature_audit (signature_id, id);

-- Signatures of reports made before keep their texts until their runs are analysed again, which is queued below.
insert into signatures (project_id, text, root_id, kind, title, class)
    select b.project_id, f.signature, 0, '', min(f.title), max(f.verdict)
    from findings f join runs r on r.id = f.run_id join builds b on b.id = r.build_id group by b.project_id, f.signature;
update signatures set root_id = id;
update signatures s set kind = k.kind
    from (select b.project_id, st.signature, min(st.kind) as kind
          from sites st join runs r on r.id = st.run_id join builds b on b.id = r.build_id group by b.project_id, st.signature) k
    where k.project_id = s.project_id and k.signature = s.text;

alter table findings rename to old_findings;
drop index findings_by_signature;
create table findings (
    run_id            bigint not null references runs on delete cascade,
    signature_id      bigint not null,   -- of signatures, which go with their project only
    class             text not null,
    certain           boolean not null default false,
    sites             int not null,
    outstanding_count bigint not null,
    outstanding_bytes bigint not null,
    growth_count      bigint,
    growth_bytes      bigint,
    allocated         bigint,            -- how many times, in a trace; null of snapshots
    score             double precision,
    rate              jsonb,             -- growth per unit, with its interval
    clauses           jsonb,             -- of those that leak or grow, as witnesses
    witnesses         jsonb,
    ordinal           int not null default 0 -- rank in the run, the gravest first
);
insert into findings (run_id, signature_id, class, sites, outstanding_count, outstanding_bytes, growth_count, growth_bytes)
    select f.run_id, s.id, f.verdict, f.sites, f.outstanding_count, f.outstanding_bytes, f.growth_count, f.growth_bytes
    from old_findings f join runs r on r.id = f.run_id join builds b on b.id = r.build_id
    join signatures s on s.project_id = b.project_id and s.text = f.signature;
drop table old_findings;
alter table findings add primary key (run_id, signature_id);
-- What a signature's history and state are made of is in the index.
create index findings_by_signature on findings (signature_id, run_id) include (class);
-- What pages of runs show.
create index findings_bad on findings (run_id, ordinal) where class in ('leak', 'growing');

-- stack_key is the raw stack, by which a site is known when its run is analysed again; null without one. What heaps took
-- from the system may have no signature.
alter table sites add column signature_id bigint, add column stack_key uuid, add column score double precision;
update sites st set signature_id = s.id
    from runs r, builds b, signatures s
    where r.id = st.run_id and b.id = r.build_id and s.project_id = b.project_id and s.text = st.signature;
alter table sites drop column signature;
create index sites_bad on sites (run_id, ordinal) where verdict in ('leak', 'growing');

-- By which rule a frame has its layer.
alter table frames add column rule text not null default '';

update runs set input_rev = input_rev + 1 where analysed_at is not null;
insert into jobs (kind, run_id) select 'analyse', id from runs where analysed_at is not null order by id desc on conflict do nothing;

-- +goose Down
alter table frames drop column rule;
drop index sites_bad;
alter table sites add column signature text;
update sites st set signature = coalesce((select s.text from signatures s where s.id = st.signature_id), '');
alter table sites alter column signature set not null, drop column signature_id, drop column stack_key, drop column score;
alter table findings rename to old_findings;
drop index findings_by_signature;
create table findings (
    run_id            bigint not null references runs on delete cascade,
    signature         text not null,
    verdict           text not null,
    title             text not null,
    sites             int not null,
    outstanding_count bigint not null,
    outstanding_bytes bigint not null,
    growth_count      bigint,
    growth_bytes      bigint
);
insert into findings
    select f.run_id, s.text, f.class, s.title, f.sites, f.outstanding_count, f.outstanding_bytes, f.growth_count, f.growth_bytes
    from old_findings f join signatures s on s.id = f.signature_id;
drop table old_findings;
alter table findings add primary key (run_id, signature);
create index findings_by_signature on findings (signature);
drop table signature_audit, signature_comments, signature_moves, signatures;
alter table runs drop column work_unit, drop column trace, drop column lossy, drop column power, drop column seen;
drop index evidence_by_digest;
drop index evidence_to_expire;
drop index evidence_to_drop;
alter table evidence drop column work, drop column expired_at, drop column dropped;
drop table reordered;
alter table projects drop column baseline_id;
alter table builds drop column pinned;
drop table project_rules;
