package umdh_test

import (
	"bytes"
	"testing"

	"heapdrift/ingest/umdh"
	"heapdrift/ingest/umdh/umdhtest"
)

func FuzzRead(f *testing.F) {
	_, logs := invented(f, 1, umdhtest.ProcessSize{Stacks: 3, Blocks: 6})
	for _, log := range logs {
		f.Add(log, byte(0))
	}
	f.Add([]byte("*- - - - - - - - - - Start of data for heap @ 10000 - - - - - - - - - -\n58 bytes + 10 at 5E1A88 by BackTrace94C4\n\t77929B07\n\tAlias\n\t"), byte(0))
	f.Add([]byte("+ FFFFFFFFFFFFFFFF ( FFFFFFFFFFFFFFFF - 0) 1 allocs\tBackTrace1\n"), byte(1))
	f.Fuzz(func(t *testing.T, in []byte, base byte) {
		captures, err := umdh.Read(t.Context(), bytes.NewReader(in), umdh.Options{Base: umdh.Base(base % 3)})
		if err == nil && len(captures) == 0 {
			t.Error("nothing read and nothing said")
		}
		for _, c := range captures {
			var b bytes.Buffer
			if err := c.Write(&b); err != nil {
				t.Fatal(err)
			}
			for i := range c.Sites {
				for _, u := range c.Sites[i].Usage {
					if u.Count < 0 || u.Bytes < 0 || u.Overhead < 0 {
						t.Errorf("site %d holds %+v", i, u)
					}
				}
			}
		}
	})
}

func FuzzParseFrame(f *testing.F) {
	for _, frame := range []string{"mod!func+00000274 (path, 228)", "7C8531E4 : ntdll!Rtl+1", "<no module>!???+0 : 7FFE",
		"77929B07", "a!operator+++1 (c:\\(x86)\\a.cpp, 1)"} {
		f.Add(frame)
	}
	f.Fuzz(func(t *testing.T, in string) {
		text, address, ok := umdh.ParseFrame(in)
		if ok && text.Module == "" && text.Function == "" && address == 0 && text.Offset == 0 && in == "" {
			t.Error("an empty line is a frame")
		}
	})
}

func FuzzSniff(f *testing.F) {
	_, logs := invented(f, 2, umdhtest.ProcessSize{Stacks: 2, Blocks: 3})
	for _, log := range logs {
		f.Add(log)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if umdh.Sniff(in) && len(bytes.TrimSpace(in)) == 0 {
			t.Error("nothing is taken for UMDH")
		}
	})
}
