package intake

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"heapdrift/ingest/evidence"
	"heapdrift/internal/memory"
	"heapdrift/internal/sandbox"
	"heapdrift/internal/symbols"
)

// A reader with a limit gives all of a file that has just that size, and fails for a byte more, however it is read.
func TestLimitOfAFile(t *testing.T) {
	for _, size := range []int{0, 1, 9, 10, 11, 12, 40} {
		for _, piece := range []int{1, 3, 10, 11, 64} {
			l := &limitedReader{r: strings.NewReader(strings.Repeat("x", size)), left: 10}
			got, p := 0, make([]byte, piece)
			var err error
			for err == nil {
				var n int
				n, err = l.Read(p)
				got += n
			}
			if large := size > 10; errors.Is(err, ErrTooLarge) != large || !large && (!errors.Is(err, io.EOF) || got != size || l.left != int64(10-size)) {
				t.Errorf("%d bytes, %d at a time: %d, %v, %d left", size, piece, got, err, l.left)
			}
			if got > 11 {
				t.Errorf("%d bytes, %d at a time: it reads %d", size, piece, got)
			}
			if errors.Is(err, ErrTooLarge) {
				if n, err := l.Read(p); n != 0 || !errors.Is(err, ErrTooLarge) {
					t.Errorf("read again: %d, %v", n, err)
				}
			}
		}
	}
}

// Names of groups are short, and have letters that need no escape in an address.
func TestNamesOfGroups(t *testing.T) {
	for name, ok := range map[string]bool{"": true, "a": true, "Build_1.2-3": true, strings.Repeat("g", 64): true,
		strings.Repeat("g", 65): false, "a b": false, "ä": false, "a/b": false} {
		if err := CheckGroup(name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// A file name is the last of a path, at most 200 characters long.
func TestLengthOfNames(t *testing.T) {
	for n, want := range map[int]int{1: 1, 199: 199, 200: 200, 201: 200} {
		if got, err := cleanName(`C:\x\` + strings.Repeat("ä", n)); err != nil || len([]rune(got)) != want {
			t.Errorf("%d characters: %d, %v", n, len([]rune(got)), err)
		}
	}
	for _, none := range []string{"", " ", ".", "/", `\`, "a/ ", "\x00"} {
		if got, err := cleanName(none); err == nil {
			t.Errorf("%q is taken for %q", none, got)
		}
	}
}

// The message names the first five refused files, and how many more there are.
func TestReasonsOfRefusal(t *testing.T) {
	for n, want := range map[int]string{0: "it is empty", 1: "a (x)", 5: "a (x), b (x), c (x), d (x), e (x)",
		6: "a (x), b (x), c (x), d (x), e (x), 1 more", 8: "a (x), b (x), c (x), d (x), e (x), 3 more"} {
		var s sortResult
		for i := range n {
			s.Refused = append(s.Refused, RefusedFile{Name: string(rune('a' + i)), Code: "x"})
		}
		if got := s.reasons(); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

// A name without its wrapping, and a name before it was compressed, in the case that it has.
func TestNamesOfUnpackedFiles(t *testing.T) {
	for name, want := range map[string]string{"app.pdb.gz": "app.pdb", "app.pdb.ZST": "app.pdb", ".gz": ".gz", "a.gz": "a", "app.zip": "app.zip", "gz": "gz"} {
		if got := withoutWrapping(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	for _, test := range []struct {
		name string
		kind symbols.FileKind
		want string
	}{
		{"app.pd_", symbols.KindPDB, "app.pdb"}, {"APP.PD_", symbols.KindPDB, "APP.PDB"}, {"app.pd_", symbols.KindImage, "app.pd_"},
		{"app.dl_", symbols.KindImage, "app.dll"}, {"app.EX_", symbols.KindImage, "app.EXE"}, {"app.dll", symbols.KindImage, "app.dll"},
		{"app_", symbols.KindImage, "app_"}, {"a.sy_", symbols.KindImage, "a.sys"},
	} {
		if got := restored(test.name, test.kind); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// What a file begins with says what it may be.
func TestFormsOfFiles(t *testing.T) {
	for head, want := range map[string]form{"": other, "M": other, "MZ": symbolFile, "MZ\x90": symbolFile, "MSCF": cabinet, "MSC": other,
		"BSJB": symbolFile, "Microsoft C/C++ MSF 7.00": symbolFile, "PK": other} {
		if got := formOf([]byte(head)); got != want {
			t.Errorf("%q: %d", head, got)
		}
	}
}

// A copy ends with its context, and says why.
func TestCopyEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	r := &contextReader{ctx, strings.NewReader("abc")}
	if n, err := r.Read(make([]byte, 2)); n != 2 || err != nil {
		t.Error(n, err)
	}
	why := errors.New("the client left")
	cancel(why)
	if n, err := r.Read(make([]byte, 2)); n != 0 || !errors.Is(err, why) {
		t.Error(n, err)
	}
}

// A process that ended before it had looked at a file refuses the file; what failed on the server stays its failure.
func TestEndedInspection(t *testing.T) {
	own := errors.New("no disk")
	for _, test := range []struct {
		err  error
		code string
	}{{nil, ""}, {own, ""}, {&sandbox.ProcessError{Code: "reader-crashed"}, "reader-crashed"}, {&memory.LimitError{Limit: 1 << 20}, memory.Code}} {
		got := ended(test.err, "a.zip")
		var refused *evidence.Error
		if errors.As(got, &refused) != (test.code != "") || refused != nil && (refused.Code != test.code || refused.File != "a.zip") ||
			refused == nil && !errors.Is(got, test.err) {
			t.Errorf("%v: %#v", test.err, got)
		}
	}
}

// A body of unknown length looks at the disk at its beginning and then every so many bytes; one without a quota
// reserves nothing.
func TestBodyLooksAtTheDisk(t *testing.T) {
	m, err := (&Intake{}).meter(t.Context(), strings.NewReader("abc"))
	if err != nil || m.counted {
		t.Fatal(m, err)
	}
	if n, err := m.Read(make([]byte, 2)); n != 2 || err != nil || m.passed != 2 || m.next != checkEvery || len(m.traffic) != 0 {
		t.Errorf("%d, %v: %+v", n, err, m)
	}
	m.passed = checkEvery - 1
	if _, err := m.Read(make([]byte, 1)); err != nil || m.next != checkEvery || m.passed != checkEvery {
		t.Errorf("%v: %+v", err, m)
	}
	if _, err := m.Read(make([]byte, 1)); !errors.Is(err, io.EOF) || m.next != 2*checkEvery {
		t.Errorf("%v: %+v", err, m)
	}
	heard := []int64{}
	m.in.Taken = func(bytes int64) { heard = append(heard, bytes) }
	if err := errors.Join(m.settle(false), m.settle(true)); err != nil || len(heard) != 1 || heard[0] != checkEvery {
		t.Errorf("%v, %v", heard, err)
	}
}
