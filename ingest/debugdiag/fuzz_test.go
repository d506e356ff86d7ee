package debugdiag_test

import (
	"bytes"
	"testing"

	"heapdrift/ingest/debugdiag"
	"heapdrift/ingest/debugdiag/debugdiagtest"
)

func FuzzRead(f *testing.F) {
	f.Add(everything(debugdiagtest.English).HTML())
	f.Add(everything(debugdiagtest.French).MIME())
	f.Add(debugdiagtest.Walkthrough().HTML())
	f.Fuzz(func(t *testing.T, in []byte) {
		captures, err := debugdiag.Read(t.Context(), bytes.NewReader(in))
		if err == nil && len(captures) == 0 {
			t.Error("nothing read and nothing said")
		}
		for _, c := range captures {
			if err := c.Write(&bytes.Buffer{}); err != nil {
				t.Fatal(err)
			}
			for i := range c.Sites {
				if u := c.Sites[i].Usage[0]; u.Count < 0 || u.Bytes < 0 {
					t.Errorf("site %d holds %+v", i, u)
				}
			}
			for _, claim := range c.Memory.Claims {
				if claim.UsageMargin < 0 || claim.Percent < -1 || claim.Percent > 100 || claim.Usage.Bytes < 0 {
					t.Errorf("%+v", claim)
				}
			}
			if c.Total(0).Bytes < 0 {
				t.Errorf("%+v", c.Total(0))
			}
		}
	})
}

func FuzzParseFrame(f *testing.F) {
	for _, frame := range []string{"leaky!Cache::Add<int>+34", "leaky+1a30", "0x79E8C582",
		"[DEFAULT] [hasThis] Boolean A.B.Read()", "a!operator+++1"} {
		f.Add(frame, `d:\a.cpp @ 1`)
	}
	f.Fuzz(func(t *testing.T, name, source string) {
		text, _, ok := debugdiag.ParseFrame(name, source)
		if ok && text.Function == "" && text.Module == "" && text.Offset != 0 {
			t.Errorf("%q is an offset of nothing: %+v", name, text)
		}
	})
}

func FuzzSniff(f *testing.F) {
	f.Add(everything(debugdiagtest.English).HTML()[:4096])
	f.Add(everything(debugdiagtest.English).MIME()[:4096])
	f.Fuzz(func(t *testing.T, in []byte) {
		if debugdiag.Sniff(in) && len(bytes.TrimSpace(in)) == 0 {
			t.Error("nothing is taken for a report")
		}
	})
}
