-- +goose Up

-- What the finding could leak does not matter, so the run passes without a decision on it; false of older results, where nobody weighed it.
alter table findings add column immaterial boolean not null default false;

-- +goose Down
alter table findings drop column immaterial;
