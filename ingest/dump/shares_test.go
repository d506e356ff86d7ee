package dump

import (
	"fmt"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/minidump"
)

// The sums are those of !address -summary: what is free has no type, and only what is committed has a protection.
func TestShares(t *testing.T) {
	p := &process{}
	p.regions = []minidump.Region{
		{Size: 0x1000, State: minidump.MemCommit, Type: minidump.MemPrivate, Protect: minidump.PageReadWrite},
		{Size: 0x2000, State: minidump.MemCommit, Type: minidump.MemPrivate, Protect: minidump.PageReadOnly},
		{Size: 0x8000, State: minidump.MemCommit, Type: minidump.MemImage, Protect: minidump.PageReadOnly},
		{Size: 0x4000, State: minidump.MemReserve, Type: minidump.MemPrivate},
		{Size: 0x40000, State: minidump.MemFree},
		{Size: 0x10000, State: minidump.MemFree},
	}
	s := &capture.Space{}
	p.shares(s)
	text := func(list []capture.Share) (text string) {
		for _, s := range list {
			text += fmt.Sprintf("%s %d of %#x, ", s.Name, s.Regions, s.Bytes)
		}
		return text
	}
	for _, test := range []struct {
		what string
		got  []capture.Share
		want string
	}{
		{"states", s.States, "MEM_FREE 2 of 0x50000, MEM_COMMIT 3 of 0xb000, MEM_RESERVE 1 of 0x4000, "},
		{"types", s.Types, "MEM_IMAGE 1 of 0x8000, MEM_PRIVATE 3 of 0x7000, "},
		{"protections", s.Protections, "PAGE_READONLY 2 of 0xa000, PAGE_READWRITE 1 of 0x1000, "},
	} {
		if got := text(test.got); got != test.want {
			t.Errorf("%s: %s, want %s", test.what, got, test.want)
		}
	}
}
