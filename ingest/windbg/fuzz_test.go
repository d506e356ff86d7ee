package windbg_test

import (
	"bytes"
	"strings"
	"testing"

	"heapdrift/ingest/windbg"
)

func FuzzRead(f *testing.F) {
	for _, text := range cases {
		_, log, _ := strings.Cut(text, "\n=\n")
		f.Add([]byte(log))
	}
	_, log, _ := strings.Cut(cases["all blocks of a heap"], "\n=\n")
	for _, paste := range pastings {
		f.Add([]byte(paste(log)))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		windbg.Sniff(in)
		captures, err := windbg.Read(t.Context(), bytes.NewReader(in))
		if err == nil && len(captures) == 0 {
			t.Error("nothing read and nothing said")
		}
		for _, c := range captures {
			valid(t, c)
		}
	})
}
