package pdb

import (
	"bytes"
	"fmt"
)

// SameStreams compares two PDBs stream by stream.
func SameStreams(a, b []byte) error {
	var list [2]container
	for i, file := range [][]byte{a, b} {
		c, _, err := openContainer(newBlockSource(bytes.NewReader(file), int64(len(file))))
		if err != nil {
			return err
		}
		list[i] = c
	}
	if list[0].streams() != list[1].streams() {
		return fmt.Errorf("%d streams and %d", list[0].streams(), list[1].streams())
	}
	for i := range list[0].streams() {
		var texts [2][]byte
		for k, c := range list {
			s, err := c.open(i)
			if err != nil {
				return err
			}
			if texts[k], err = s.view(0, int(s.size())); err != nil {
				return err
			}
		}
		if !bytes.Equal(texts[0], texts[1]) {
			return fmt.Errorf("stream %d differs: %d and %d bytes", i, len(texts[0]), len(texts[1]))
		}
	}
	return nil
}
