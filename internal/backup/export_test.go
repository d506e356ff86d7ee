package backup

// PutTombstonesBy is PutTombstones with another number of tombstones per file.
var PutTombstonesBy = putTombstones
