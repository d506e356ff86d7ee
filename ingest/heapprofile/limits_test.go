package heapprofile_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"heapdrift/ingest/evidence"
	"heapdrift/ingest/heapprofile"
)

// record appends a field of bytes of a protocol buffer.
func record(to []byte, number int, body []byte) []byte {
	to = append(to, byte(number<<3|2))
	return append(binary.AppendUvarint(to, uint64(len(body))), body...)
}

// live is the beginning of a binary profile of live blocks: its sample types, of more than two the others without a
// name.
func live(types int) (p []byte) {
	for i := range types {
		p = record(p, 1, []byte{8, byte(max(0, 3+i-types))})
	}
	for _, name := range []string{"", "objects", "space"} {
		p = record(p, 6, []byte(name))
	}
	return p
}

// A profile of too many sample types is refused.
func TestSampleTypes(t *testing.T) {
	t.Parallel()
	if _, err := heapprofile.Read(t.Context(), bytes.NewReader(live(64)), "a.heap"); err != nil {
		t.Errorf("64 sample types: %v", err)
	}
	_, err := heapprofile.Read(t.Context(), bytes.NewReader(live(65)), "a.heap")
	if r := evidence.Refusal(err); r == nil || r.Code != heapprofile.CodeTooLarge || !strings.Contains(r.Message, "64") || r.Do == "" {
		t.Errorf("65 sample types: %v", err)
	}
}

// ending is a context that ends when it was asked so many times.
type ending struct {
	context.Context //nolint:containedctx // it stands for it
	left            int
}

func (e *ending) Err() error {
	if e.left--; e.left < 0 {
		return context.Canceled
	}
	return nil
}

// The end of the context is noticed while the tables are read, also of a profile that is refused behind them.
func TestTablesEnd(t *testing.T) {
	t.Parallel()
	profile := record(nil, 1, []byte{8, 1})
	for range 1 << 14 {
		profile = record(profile, 6, []byte("cpu"))
	}
	for asked := range 5 {
		_, err := heapprofile.Read(t.Context(), bytes.NewReader(profile), "a.heap")
		if r := evidence.Refusal(err); r == nil || r.Code != heapprofile.CodeNotLive {
			t.Fatalf("the whole profile: %v", err)
		}
		_, err = heapprofile.Read(&ending{context.Background(), asked}, bytes.NewReader(profile), "a.heap")
		if !errors.Is(err, context.Canceled) {
			t.Errorf("a context that ends after %d questions: %v", asked, err)
		}
	}
}
