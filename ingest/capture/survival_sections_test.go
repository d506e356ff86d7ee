package capture_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
)

// withSurvivals is the capture of a process that was torn down, with a Survival of its heap site.
func withSurvivals(t testing.TB) *capture.Capture {
	t.Helper()
	captures, rows := twoProcesses(t)
	for i := range int64(5) {
		if err := rows.AddRows([]allocations.Row{
			{AllocTime: (2 + i) * 1e9, FreeTime: 9e9, Size: 50, Heap: 0x10000, End: allocations.EndFree},
			{AllocTime: (2 + i) * 1e9, FreeTime: 7e9, Size: 50, Heap: 0x10000, End: allocations.EndFree},
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := rows.AddRows([]allocations.Row{{AllocTime: allocations.BeforeTrace, FreeTime: 6e9, Heap: 0x10000, UnknownFree: true,
		End: allocations.EndFree}}); err != nil {
		t.Fatal(err)
	}
	captures[0].Trace.Teardown = 8e9
	captures[0].Trace.Window = capture.Window{From: 2e9, To: 3e9} // so that nothing bounds what is left
	captures, err := capture.CutToWindow(context.Background(), captures, rows, capture.Window{From: 1e9, To: 9e9})
	if err != nil {
		t.Fatal(err)
	}
	captures[0].Trace.SurvivalsBeyond = 7
	return captures[0]
}

// A window has the survivals of its sites up to the teardown.
func TestSurvivalsInWindow(t *testing.T) {
	c := withSurvivals(t)
	s := c.Sites[0].Life.Survival
	if s == nil || c.Sites[1].Life.Survival != nil {
		t.Fatalf("survivals %v and %v", s, c.Sites[1].Life.Survival)
	}
	born, left := s.Total()
	if s.From != 1e9 || s.Over != 8e9 || born != 12 || left != (allocations.Usage{Count: 6, Bytes: 5*50 + 40}) ||
		s.LateUnknownFrees != 1 {
		t.Errorf("in [%d, %d] %d made, %+v left, %d late unknown frees", s.From, s.Over, born, left, s.LateUnknownFrees)
	}
	if ended := s.Ended[allocations.Bucket(1e9)] + s.Ended[allocations.Bucket(2e9)]; ended != 3 { // of 5, 4, 3, 2 and 1 s, and 2 s
		t.Errorf("%d lived 1 or 2 s: %v", ended, s.Ended)
	}
}

func TestSurvivalsRoundTrip(t *testing.T) {
	c := withSurvivals(t)
	read, err := capture.Read(bytes.NewReader(artifact(t, c)))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(c.Sites, read.Sites) || !reflect.DeepEqual(c.Trace, read.Trace) {
		t.Errorf("wrote %+v, %+v, read %+v, %+v", c.Trace, c.Sites[0].Life.Survival, read.Trace, read.Sites[0].Life.Survival)
	}
}

// sections are the sections of an artifact, and what is before them.
func sections(t testing.TB, data []byte) (head []byte, list []taggedSection) {
	t.Helper()
	z, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	plain, err := z.DecodeAll(data[6:], nil)
	if err != nil {
		t.Fatal(err)
	}
	for len(plain) > 0 {
		tag, n := binary.Uvarint(plain)
		length, m := binary.Uvarint(plain[n:])
		list = append(list, taggedSection{tag, plain[n+m:][:length]})
		plain = plain[n+m+int(length):]
	}
	return data[:6], list
}

type taggedSection struct {
	tag     uint64
	payload []byte
}

// joined is the artifact of sections.
func joined(t testing.TB, head []byte, list []taggedSection) []byte {
	t.Helper()
	var plain []byte
	for _, s := range list {
		plain = append(binary.AppendUvarint(binary.AppendUvarint(plain, s.tag), uint64(len(s.payload))), s.payload...)
	}
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithWindowSize(1<<10))
	if err != nil {
		t.Fatal(err)
	}
	return z.EncodeAll(plain, bytes.Clone(head))
}

// Artifacts that were written before survivals existed are read: they know of no teardown.
func TestArtifactWithoutSurvivals(t *testing.T) {
	head, list := sections(t, artifact(t, withSurvivals(t)))
	const survivals = 13
	before := slices.IndexFunc(list, func(s taggedSection) bool { return s.tag == survivals })
	c, err := capture.Read(bytes.NewReader(joined(t, head, list[:before])))
	if err != nil {
		t.Fatal(err)
	}
	if c.Trace.Teardown != allocations.Never || c.Sites[0].Life.Survival != nil ||
		c.Sites[0].Life.Usage.AIFO.Count == 0 {
		t.Errorf("%+v, %+v", c.Trace, c.Sites[0].Life)
	}
}

// A section of survivals that is cut or damaged is refused, or reads as possible numbers.
func TestDamagedSurvivals(t *testing.T) {
	head, list := sections(t, artifact(t, withSurvivals(t)))
	last := &list[len(list)-1]
	whole := last.payload
	for n := 1; n < len(whole); n++ {
		last.payload = whole[:n]
		if _, err := capture.Read(bytes.NewReader(joined(t, head, list))); !errors.Is(err, capture.ErrArtifact) {
			t.Errorf("cut at %d of %d: %v", n, len(whole), err)
		}
	}
	for bit := 0; bit < len(whole)*8; bit += 3 { // of three bytes each bit once
		last.payload = bytes.Clone(whole)
		last.payload[bit/8] ^= 1 << (bit % 8)
		c, err := capture.Read(bytes.NewReader(joined(t, head, list)))
		if err != nil {
			if !errors.Is(err, capture.ErrArtifact) {
				t.Errorf("bit %d: %v", bit, err)
			}
			continue
		}
		for i := range c.Sites {
			s := c.Sites[i].Life.Survival
			if s == nil {
				continue
			}
			if born, left := s.Total(); s.From > s.Over || born < 0 || left.Count < 0 || left.Bytes < 0 ||
				s.LateUnknownFrees < 0 {
				t.Errorf("bit %d: %+v", bit, s)
			}
		}
	}
}
