-- +goose Up

-- The most blocks that the finding held at one instant of its run; null of older results, where nobody counted.
alter table findings add column most_held bigint;

-- +goose Down
alter table findings drop column most_held;
