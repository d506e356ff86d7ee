-- +goose Up
-- The commit that a build was made of, as uploads say, and the address of what lies between two of them.
alter table builds add column commit text not null default '';
alter table projects add column commits_link text not null default '';

-- +goose Down
alter table projects drop column commits_link;
alter table builds drop column commit;
