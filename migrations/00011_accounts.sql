-- +goose Up

-- A person who may log in. epoch counts what ends all sessions: a new password, a lock. email is for reading.
create table users (
    id            bigint generated always as identity primary key,
    name          text not null,
    email         text not null default '',
    password_hash text not null default '',   -- argon2id; '' logs in by OpenID Connect only, or not yet
    issuer        text not null default '',   -- of OpenID Connect; subject is the person's name there
    subject       text not null default '',
    admin         boolean not null default false,  -- of the server
    epoch         int not null default 0,
    created_at    timestamptz not null default now(),
    logged_in_at  timestamptz,
    locked_at     timestamptz
);
-- Names stand in the audit: two that differ in case only would be taken for one.
create unique index users_by_name on users (lower(name));
create unique index users_by_subject on users (issuer, subject) where issuer <> '';

create table members (
    project_id bigint not null references projects on delete cascade,
    user_id    bigint not null references users on delete cascade,
    role       text not null check (role in ('viewer', 'member', 'admin')),
    primary key (project_id, user_id)
);
create index members_of_user on members (user_id);

create table tokens (
    id           bigint generated always as identity primary key,
    project_id   bigint not null references projects on delete cascade,
    name         text not null,
    prefix       text not null,         -- the first characters, by which its owner finds it again
    digest       bytea not null unique, -- SHA-256 of the token
    scopes       text[] not null,
    created_by   text not null,
    created_at   timestamptz not null default now(),
    expires_at   timestamptz,
    last_used_at timestamptz,
    revoked_at   timestamptz
);
create index tokens_of_project on tokens (project_id);

-- A link that opens an account, once: of the user it names, or of a new one who administers the server.
create table account_links (
    digest     bytea primary key,       -- SHA-256 of the secret
    user_id    bigint references users on delete cascade,
    created_by text not null,
    created_at timestamptz not null default now(),
    expires_at timestamptz not null,
    used_at    timestamptz
);

create table sessions (                 -- as scs's pgxstore has it
    token  text primary key,
    data   bytea not null,
    expiry timestamptz not null
);
create index sessions_by_expiry on sessions (expiry);

create table failed_log_ins (
    name   text not null,               -- as it was typed, in lower case
    client text not null,
    at     timestamptz not null default now()
);
create index failed_log_ins_by_name on failed_log_ins (name, at);
create index failed_log_ins_by_client on failed_log_ins (client, at);
create index failed_log_ins_by_time on failed_log_ins (at);

-- What became of accounts, and of projects that are gone: those have no audit of their own any more.
create table server_audit (
    id       bigint generated always as identity primary key,
    actor    text not null,
    verified boolean not null,
    action   text not null,
    before   jsonb not null,
    after    jsonb not null,
    at       timestamptz not null default now()
);

-- Whether the actor was logged in. Names from before there were accounts are as somebody typed them.
alter table signature_audit add column verified boolean not null default false;
alter table project_audit add column verified boolean not null default false;
alter table signature_comments add column verified boolean not null default false;
alter table project_rules add column verified boolean not null default false;

-- +goose Down
alter table project_rules drop column verified;
alter table signature_comments drop column verified;
alter table project_audit drop column verified;
alter table signature_audit drop column verified;
drop table server_audit, failed_log_ins, sessions, account_links, tokens, members, users;
