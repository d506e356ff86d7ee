package pdb

import "bytes"

// namesMagic begins the stream /names: magic 0 4, version 4 4, bytes 8 4, then zero-terminated texts, which other
// streams name by their offset.
const namesMagic = 0xEFFEEFFE

// maxText bounds a text: a path of Windows has at most 32,767 letters.
const maxText = 32 << 10

func (f *File) readNames() ([]byte, error) {
	number, ok := f.named["/names"]
	if !ok {
		return nil, nil
	}
	s, err := f.c.open(number)
	if err != nil {
		return nil, err
	}
	h, err := s.view(0, 12)
	if err != nil {
		return nil, err
	}
	if le.Uint32(h) != namesMagic {
		return nil, fail(CodeCorrupt, number, 0, "/names begins with %#x", le.Uint32(h))
	}
	return s.view(12, int(min(int64(le.Uint32(h[8:])), s.size()-12)))
}

// text returns what /names holds at an offset.
func (f *File) text(at uint32) []byte {
	all, err := f.names()
	if err != nil || int64(at) >= int64(len(all)) {
		return nil
	}
	name, _, _ := bytes.Cut(all[at:min(int64(len(all)), int64(at)+maxText)], []byte{0})
	return name
}
