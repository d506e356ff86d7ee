package cab

import (
	"bytes"
	"compress/flate"
	"errors"
	"io"
)

// An mszip unpacks MSZIP: each block is "CK" and a whole deflate stream, which may refer to the 32 KiB before it.
type mszip struct {
	in      bytes.Reader
	inflate io.ReadCloser
	history []byte // up to 32 KiB, then the block
	more    [1]byte
}

func newMSZIP() *mszip {
	z := &mszip{history: make([]byte, 0, 2*blockMax)}
	z.inflate = flate.NewReader(&z.in)
	return z
}

func (z *mszip) unpack(data []byte, size int) ([]byte, error) {
	if len(data) < 2 || data[0] != 'C' || data[1] != 'K' {
		return nil, errors.New("an MSZIP block does not begin with CK")
	}
	if over := len(z.history) - blockMax; over > 0 {
		z.history = z.history[:copy(z.history, z.history[over:])]
	}
	z.in.Reset(data[2:])
	if err := z.inflate.(flate.Resetter).Reset(&z.in, z.history); err != nil {
		return nil, err
	}
	n := len(z.history)
	block := z.history[n : n+size]
	if _, err := io.ReadFull(z.inflate, block); err != nil {
		return nil, err
	}
	if n, err := z.inflate.Read(z.more[:]); n > 0 {
		return nil, errors.New("an MSZIP block unpacks to more than it claims")
	} else if !errors.Is(err, io.EOF) {
		return nil, err
	}
	z.history = z.history[:n+size]
	return block, nil
}
