package undname_test

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"heapdrift/internal/symbols/undname"
)

var everyFlag = []undname.Flags{
	undname.Complete, undname.NameOnly, undname.NoMSKeywords, undname.TypeOnly, undname.CurrentGrammar,
	undname.NameOnly | undname.NoPtr64 | undname.CurrentGrammar, undname.NoIdentCharCheck, ^undname.Flags(0),
}

// outputLimit bounds the length of a declaration; a name whose declaration is longer stays decorated.
const outputLimit = 64 << 10

func check(t *testing.T, name string) {
	t.Helper()
	for _, flags := range everyFlag {
		got := undname.Undecorate(name, flags)
		if len(got) > outputLimit && got != name {
			t.Fatalf("%.200q becomes %d bytes", name, len(got))
		}
		if name != "" && got == "" {
			t.Fatalf("nothing is left of %q", name)
		}
	}
}

func TestEveryCut(t *testing.T) {
	for _, name := range invented(t) {
		for n := range len(name) {
			check(t, name[:n])
			check(t, name[n:])
			check(t, "?"+name[n:])
		}
	}
}

func TestEveryByteChanged(t *testing.T) {
	for _, name := range invented(t) {
		changed := []byte(name)
		for i := range changed {
			old := changed[i]
			for _, c := range []byte("@?$0A_\x00\xff") {
				changed[i] = c
				check(t, string(changed))
			}
			changed[i] = old
		}
	}
}

func TestRandomNames(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 3))
	pieces := append(invented(t), strings.Split("?@$012ABCEHPQUVWXYZ_", "")...)
	for range 20000 {
		var b strings.Builder
		b.WriteString("?")
		for range r.IntN(6) {
			p := pieces[r.IntN(len(pieces))]
			b.WriteString(p[r.IntN(len(p)):])
		}
		check(t, b.String())
	}
}

// A chain of types, each of which holds the one before ten times, would print as 10^11 bytes.
func TestOutputIsBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString("?f@@YAXV?$A@H@@")
	for i := range 9 {
		b.WriteString("P6AX" + strings.Repeat(string(rune('0'+i)), 10) + "@Z")
	}
	b.WriteString("@Z")
	name := b.String()
	if got := undname.Undecorate(name, undname.Complete); got != name {
		t.Errorf("%d bytes were written", len(got))
	}
	if got := undname.Undecorate(name, undname.NameOnly); got != "f" {
		t.Errorf("the name alone is %q", got)
	}
}

func TestNestingIsBounded(t *testing.T) {
	for _, repeated := range []string{"PA", "V?$A@", "P6A", "?1?", "?1??", "$$BY0A@", "??$", "$1?", "A$$C", "$$CA",
		"??__E?", "??_P", "?A", "?Q", "_$"} {
		for _, prefix := range []string{"?f@@YAX", "?f@", "?", "??$f@", ""} {
			check(t, prefix+strings.Repeat(repeated, 10000))
		}
	}
	check(t, "?"+strings.Repeat("f", 1<<20))
	check(t, "?f@@YAXH"+strings.Repeat("0", 60000)+"@Z")
	check(t, "?f@@3PAY"+strings.Repeat("P", 16)+"@H")
}

func TestAppendKeepsWhatIsThere(t *testing.T) {
	for _, name := range append(invented(t), "", "plain", "?f@@YAXQ") {
		for _, flags := range everyFlag {
			got := undname.AppendUndecorate([]byte("before "), name, flags)
			if want := "before " + undname.Undecorate(name, flags); string(got) != want {
				t.Errorf("%s, flags %#x: %q, not %q", name, flags, got, want)
			}
		}
	}
}

// Concurrent calls share decoders through a pool and do not disturb each other.
func TestConcurrent(t *testing.T) {
	names := invented(t)
	want := make([]string, len(names))
	for i, name := range names {
		want[i] = undname.Undecorate(name, undname.Complete)
	}
	done := make(chan bool)
	for g := range 4 {
		go func() {
			defer func() { done <- true }()
			var buf []byte
			for i := range 10 * len(names) {
				i = (i*7 + g) % len(names)
				if buf = undname.AppendUndecorate(buf[:0], names[i], undname.Complete); !bytes.Equal(buf, []byte(want[i])) {
					t.Errorf("%s: %s, not %s", names[i], buf, want[i])
				}
			}
		}()
	}
	for range 4 {
		select {
		case <-done:
		case <-time.After(time.Minute):
			t.Fatal("a minute has passed")
		}
	}
}

func FuzzUndecorate(f *testing.F) {
	for _, name := range invented(f) {
		f.Add(name, uint32(0))
	}
	f.Add("ABVC@n@@", uint32(undname.TypeOnly))
	f.Fuzz(func(t *testing.T, name string, flags uint32) {
		check(t, name)
		got := undname.Undecorate(name, undname.Flags(flags))
		if len(got) > outputLimit && got != name {
			t.Errorf("%d bytes", len(got))
		}
		undname.Display(name, flags&1 != 0)
	})
}
