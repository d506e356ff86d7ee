-- +goose Up
-- Where the team's source files can be read, a line for each folder.
alter table projects add column source_links text not null default '';

-- +goose Down
alter table projects drop column source_links;
