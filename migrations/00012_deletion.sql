-- +goose Up

-- Blobs that something referred to that is deleted. A worker deletes those that nothing else refers to.
create table unwanted_blobs (
    key text primary key,
    at  timestamptz not null default now()
);

-- +goose StatementBegin
create function blobs_of_evidence() returns trigger language plpgsql as $$
begin
    insert into unwanted_blobs (key) select distinct 'sha256/' || left(sha256, 2) || '/' || sha256 from gone on conflict (key) do update set at = now();
    return null;
end $$;
-- +goose StatementEnd
create trigger unwanted_blobs after delete on evidence referencing old table as gone for each statement execute function blobs_of_evidence();

-- +goose StatementBegin
create function blobs_of_captures() returns trigger language plpgsql as $$
begin
    insert into unwanted_blobs (key) select distinct k from gone, unnest(array[artifact, table_key]) k where k <> '' on conflict (key) do update set at = now();
    return null;
end $$;
-- +goose StatementEnd
create trigger unwanted_blobs after delete on captures referencing old table as gone for each statement execute function blobs_of_captures();

-- +goose StatementBegin
create function blobs_of_runs() returns trigger language plpgsql as $$
begin
    insert into unwanted_blobs (key) select distinct k from gone, unnest(array[report_key, table_key, names_key]) k where k <> '' on conflict (key) do update set at = now();
    return null;
end $$;
-- +goose StatementEnd
create trigger unwanted_blobs after delete on runs referencing old table as gone for each statement execute function blobs_of_runs();

-- How many bytes came with a token on a day, in UTC.
create table token_days (
    token_id bigint not null references tokens on delete cascade,
    day      date not null,
    bytes    bigint not null,
    primary key (token_id, day)
);

-- +goose Down
drop table token_days;
drop trigger unwanted_blobs on runs;
drop trigger unwanted_blobs on captures;
drop trigger unwanted_blobs on evidence;
drop function blobs_of_runs;
drop function blobs_of_captures;
drop function blobs_of_evidence;
drop table unwanted_blobs;
