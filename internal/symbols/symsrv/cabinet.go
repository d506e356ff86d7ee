package symsrv

import (
	"io"

	"heapdrift/internal/symbols/cab"
)

// cabinet lists the files of a cabinet.
func cabinet(r io.ReaderAt, size int64) ([]member, error) {
	c, err := cab.Open(r, size)
	if err != nil {
		return nil, err
	}
	files := c.Files()
	members := make([]member, 0, len(files))
	for i := range files {
		members = append(members, member{files[i].Name, files[i].Open})
	}
	return members, nil
}
