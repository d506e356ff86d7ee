-- +goose Up
-- The branch that other branches leave, where the project names one.
alter table projects add column default_branch text not null default '';

-- The build at which the branch of a build left its parent line, and the commits behind it, newest first; empty where no push said so.
alter table builds add column fork text not null default '';
alter table builds add column ancestors text[] not null default '{}';

-- +goose Down
alter table builds drop column ancestors;
alter table builds drop column fork;
alter table projects drop column default_branch;
