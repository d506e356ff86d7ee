package etl

import (
	"bytes"
	"context"
)

// resync looks for the next buffer behind the last sound header, at before, whose size may be what led to the damage at
// bad. It returns the file's size where there is none.
//
// Uncompressed buffers lie on the grid of the session's buffer size. Compressed ones lie anywhere: a header is believed
// there when another one, or the end of the file, follows it.
func (s *scanner) resync(ctx context.Context, before, bad int64) (int64, error) {
	if s.file.LogFile.Mode&ModeCompressed == 0 {
		if size := int64(s.file.LogFile.BufferSize); size >= bufferHeaderSize {
			return s.resyncGrid(ctx, before/size*size+size, bad, size)
		}
	}
	return s.resyncBytes(ctx, before+1, bad)
}

func (s *scanner) resyncGrid(ctx context.Context, at, bad, size int64) (int64, error) {
	var head [bufferHeaderSize]byte
	for n := 0; at+bufferHeaderSize <= s.source.Size; at, n = at+size, n+1 {
		if n&0xFFF == 0 && ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		if _, err := s.read(head[:], at); err != nil {
			return 0, err
		}
		if at != bad && parseBufferHeader(head[:]).plausible(s.limit) {
			return at, nil
		}
	}
	return s.source.Size, nil
}

func (s *scanner) resyncBytes(ctx context.Context, at, bad int64) (int64, error) {
	window := make([]byte, 1<<20)
	for at+bufferHeaderSize <= s.source.Size {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		n, err := s.read(window, at)
		if err != nil {
			return 0, err
		}
		for i := 0; i+bufferHeaderSize <= n; i++ {
			// BufferFlag is 0x40 or 0x60 or so in every compressed buffer, its high byte 0.
			j := bytes.IndexByte(window[i+0x35:n], 0)
			if j < 0 {
				break
			}
			if i += j; i+bufferHeaderSize > n {
				break
			}
			h := parseBufferHeader(window[i:])
			found := at + int64(i)
			if found == bad || h.flags&flagCompressed == 0 || !h.plausible(s.limit) {
				continue
			}
			sound, err := s.followed(found + int64(h.size))
			if err != nil || sound {
				return found, err
			}
		}
		at += int64(max(1, n-bufferHeaderSize+1))
	}
	return s.source.Size, nil
}

// followed reports whether a buffer ends at the given offset: another begins there, or the file ends.
func (s *scanner) followed(at int64) (bool, error) {
	if at+bufferHeaderSize > s.source.Size {
		return at == s.source.Size, nil
	}
	var head [bufferHeaderSize]byte
	if _, err := s.read(head[:], at); err != nil {
		return false, err
	}
	return parseBufferHeader(head[:]).plausible(s.limit), nil
}
