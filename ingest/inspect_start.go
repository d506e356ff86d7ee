package ingest

import (
	"errors"

	"heapdrift/ingest/evidence"
)

// HeadBytes is how many bytes of a file's beginning tell its format.
const HeadBytes = 64 << 10

// A FileStart is what a file is by its name and its first bytes, before anybody has the rest. One of its fields is set.
type FileStart struct {
	Name    string          // of a format that is read, with its article: "a dump"
	Packed  string          // a file that holds other files, with its article: "a zip archive"; its format shows when it is unpacked
	Refused *evidence.Error // why the file will be refused, however it goes on
}

// InspectStart looks at the first bytes of a file, HeadBytes of them or the whole file where it is shorter. It decides
// by the rows that Inspect decides by: what it refuses, Inspect refuses with the same words. What it takes, Inspect may
// still refuse for what comes later in the file.
func InspectStart(name string, head []byte) FileStart {
	if p := packingOf(head); p != nil {
		return FileStart{Packed: p.name}
	}
	f, err := recognise(name, head)
	var refused *evidence.Error
	if errors.As(err, &refused) {
		return FileStart{Refused: refused}
	}
	return FileStart{Name: f.Name}
}
