-- +goose Up
-- Servers and workers as they say of themselves, every few seconds.
create table nodes (
    id         text primary key,
    role       text not null,
    host       text not null,
    version    text not null,
    schema     bigint not null,
    slots      int not null default 0,
    running    int not null default 0,
    says       text not null default '',   -- why it takes no more jobs
    started_at timestamptz not null default now(),
    seen_at    timestamptz not null default now()
);

-- What places answered that were asked for symbol files.
create table symbol_places (
    place    text not null,
    result   text not null,
    count    bigint not null default 0,
    last_at  timestamptz not null default now(),
    primary key (place, result)
);

-- +goose Down
drop table symbol_places;
drop table nodes;
