-- +goose Up

create table projects (
    id         bigint generated always as identity primary key,
    name       text not null unique,
    created_at timestamptz not null default now()
);

-- A build is a version under test. sequence orders builds as declared by their uploader; upload time does not
-- count, because old builds are often measured later.
create table builds (
    id         bigint generated always as identity primary key,
    project_id bigint not null references projects on delete cascade,
    name       text not null,
    sequence   bigint,
    branch     text not null default '',
    created_at timestamptz not null default now(),
    unique (project_id, name)
);

create table scenarios (
    id         bigint generated always as identity primary key,
    project_id bigint not null references projects on delete cascade,
    name       text not null,
    unique (project_id, name)
);

-- A run is one process's evidence in one build and scenario. captures_rev counts what was read, report_rev is the
-- captures_rev that the stored result rests on: a result of older captures never replaces one of newer.
create table runs (
    id           bigint generated always as identity primary key,
    build_id     bigint not null references builds on delete cascade,
    scenario_id  bigint not null references scenarios on delete cascade,
    name         text not null,
    created_at   timestamptz not null default now(),
    completed_at timestamptz,
    captures_rev bigint not null default 0,
    report_rev   bigint not null default 0,
    analysed_at  timestamptz,
    report_key   text not null default '',   -- blob of the whole report, zstd JSON
    summary      jsonb,                       -- the report without its sites
    status       text not null default '',    -- of the verdict
    sentence     text not null default '',
    site_count   bigint not null default 0,
    error_code   text not null default '',    -- why the last analysis gave nothing
    error        text not null default '',
    unique (build_id, scenario_id, name)
);
create index runs_by_scenario on runs (scenario_id, build_id);

create table evidence (
    id          bigint generated always as identity primary key,
    run_id      bigint not null references runs on delete cascade,
    name        text not null,
    sha256      text not null,
    bytes       bigint not null,
    kind        text not null,
    state       text not null default 'stored' check (state in ('stored', 'read', 'failed')),
    error_code  text not null default '',
    error       text not null default '',
    uploaded_at timestamptz not null default now(),
    unique (run_id, name, sha256)
);

-- What was read from a piece of evidence; artifact is the blob of the capture.
create table captures (
    id                bigint generated always as identity primary key,
    evidence_id       bigint not null references evidence on delete cascade,
    ordinal           int not null,
    kind              text not null,
    process           text not null,
    pid               bigint not null,
    bits              int not null,
    taken_at          timestamp,
    artifact          text not null,
    artifact_bytes    bigint not null,
    outstanding_count bigint not null,
    outstanding_bytes bigint not null,
    warnings          jsonb not null default '[]',
    unique (evidence_id, ordinal)
);

create table modules (
    capture_id bigint not null references captures on delete cascade,
    ordinal    int not null,
    path       text not null,
    base       numeric(20) not null,
    size       numeric(20) not null,
    pdb        text not null default '',
    debug_id   text not null default '',
    symbols    text not null,
    primary key (capture_id, ordinal)
);

-- Frames and stacks are shared by all runs and found by content.
create table frames (
    id            bigint generated always as identity primary key,
    hash          uuid not null unique,
    module        text not null,
    function      text not null,
    "offset"      text not null,
    file          text not null,
    line          bigint not null,
    inline        boolean not null,
    layer         text not null,
    address       text not null   -- of a frame outside every module; '' for others
);

create table stacks (
    id     bigint generated always as identity primary key,
    hash   uuid not null unique,
    frames bigint[] not null
);

-- The sites of a run's report. ordinal is the rank by growth; pages read by it.
create table sites (
    run_id            bigint not null references runs on delete cascade,
    ordinal           int not null,
    signature         text not null,
    kind              text not null,
    heap              text not null,
    verdict           text not null,
    blame             text not null,    -- as printed: module!function or module+0xRVA
    place             text not null,    -- file:line of the blame frame, or ''
    outstanding_count bigint not null,
    outstanding_bytes bigint not null,
    growth_count      bigint,
    growth_bytes      bigint,
    series            bigint[] not null, -- bytes at each snapshot
    flags             text[] not null,
    traces            text[] not null,
    stack_id          bigint,           -- of stacks, which are never deleted; null without a stack
    alias_ids         bigint[] not null,
    primary key (run_id, ordinal)
);

-- What text finds which sites of a run: each function, module and file that their stacks name, in lower case, with the
-- ordinals of the sites. Orders of sites other than by ordinal sort the run's rows, which is fast enough and costs no index.
create table site_names (
    run_id   bigint not null references runs on delete cascade,
    name     text not null,
    ordinals int[] not null
);
create index site_names_by_run on site_names (run_id);

-- A finding is a signature in a run: what its sites hold together.
create table findings (
    run_id            bigint not null references runs on delete cascade,
    signature         text not null,
    verdict           text not null,
    title             text not null,
    sites             int not null,
    outstanding_count bigint not null,
    outstanding_bytes bigint not null,
    growth_count      bigint,
    growth_bytes      bigint,
    primary key (run_id, signature)
);
create index findings_by_signature on findings (signature);

-- Jobs: the truth about work to do and the outbox of the broker, which carries ids only.
create table jobs (
    id           bigint generated always as identity primary key,
    kind         text not null check (kind in ('read', 'analyse')),
    run_id       bigint not null references runs on delete cascade,
    evidence_id  bigint references evidence on delete cascade,
    state        text not null default 'queued' check (state in ('queued', 'running', 'done', 'failed')),
    attempt      int not null default 0,
    max_attempts int not null default 5,
    run_at       timestamptz not null default now(),
    sent_at      timestamptz,
    lease_token  bigint,
    lease_until  timestamptz,
    percent      smallint not null default 0,
    stage        text not null default '',
    error_code   text not null default '',
    error        text not null default '',
    created_at   timestamptz not null default now(),
    ended_at     timestamptz
);
create index jobs_due on jobs (run_at) where state = 'queued';
create index jobs_leased on jobs (lease_until) where state = 'running';
create index jobs_by_run on jobs (run_id, id);
-- One queued analysis of a run is enough: it will see everything that was read until it starts.
create unique index jobs_one_analysis on jobs (run_id) where kind = 'analyse' and state = 'queued';

-- Resumable uploads. The parts lie in the blob store as uploads/<id>/<part>; hash_state is the running SHA-256.
create table uploads (
    id         text primary key,
    length     bigint not null,
    received   bigint not null default 0,
    parts      int not null default 0,
    hash_state bytea,
    target     jsonb not null,
    result     jsonb,
    created_at timestamptz not null default now(),
    touched_at timestamptz not null default now()
);

-- +goose StatementBegin
create function tell_job() returns trigger language plpgsql as $$
begin
    perform pg_notify('run', new.run_id::text);
    return null;
end $$;
-- +goose StatementEnd
create trigger job_changed after insert or update of state, percent, stage on jobs
    for each row execute function tell_job();

-- +goose Down
drop table uploads, jobs, findings, site_names, sites, stacks, frames, modules, captures, evidence, runs, scenarios, builds, projects;
drop function tell_job;
