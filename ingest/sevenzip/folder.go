package sevenzip

import (
	"io"
	"slices"

	"heapdrift/ingest/evidence"
)

// folder opens what comes out of a folder.
func (a *Archive) folder(f *folder) (io.Reader, error) {
	u := unpacker{archive: a, folder: f, begun: make([]bool, len(f.coders))}
	r, err := u.output(f.main, false)
	if err == nil && slices.Contains(u.begun, false) { // coders that feed each other, and nothing else
		return nil, errHeaderClaims
	}
	return r, err
}

// An unpacker connects the coders of a folder. Each output feeds one input, so that those of the main coder are a tree.
type unpacker struct {
	archive *Archive
	folder  *folder
	begun   []bool // the coders that have been reached
}

// output opens what comes out of a coder. unpacked says that it goes into a method that unpacks.
func (u *unpacker) output(number int, unpacked bool) (io.Reader, error) {
	u.begun[number] = true
	c := &u.folder.coders[number]
	if unpacked && methods[c.method].unpacks {
		return nil, &evidence.Error{Code: evidence.CodeUnsupportedFormat, Message: "the archive is packed twice: one method unpacks what another has unpacked",
			Do: "pack it with 7-Zip's defaults (7z a)"}
	}
	in := make([]io.Reader, c.inputs)
	for i := range in {
		var err error
		if in[i], err = u.input(c.first+uint64(i), unpacked || methods[c.method].unpacks); err != nil {
			return nil, err
		}
	}
	size := u.folder.sizes[number]
	r, err := methods[c.method].open(c.properties, size, in)
	if err != nil {
		return nil, damage(err)
	}
	return io.LimitReader(r, int64(size)), nil
}

// input opens what goes into a coder: a packed stream, or what comes out of another coder.
func (u *unpacker) input(number uint64, unpacked bool) (io.Reader, error) {
	for _, p := range u.folder.pairs {
		if p.input == number {
			return u.output(int(p.output), unpacked)
		}
	}
	room := uint64(u.archive.size) - signatureSize
	for i, input := range u.folder.inputs {
		if p := u.folder.packed[i]; input == number {
			if p.offset > room || p.size > room-p.offset {
				return nil, errHeaderClaims
			}
			return io.NewSectionReader(u.archive.src, int64(p.offset)+signatureSize, int64(p.size)), nil
		}
	}
	return nil, errHeaderClaims
}
