package pdb_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"heapdrift/internal/corpus"
	"heapdrift/internal/symbols/pdb"
)

// A row is what the reference reader says of an address; see corpus/symbols/expected/README.md.
type row struct {
	rva                                                      uint32
	kind, function, disp, file, line, inlines, public, pdisp string
	peer                                                     string // frames of pdb-addr2line
}

// table reads the expectations of a PDB.
func table(t testing.TB, path string) []row {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var rows []row
	for _, line := range strings.Split(strings.TrimRight(string(text), "\n"), "\n")[1:] {
		c := strings.Split(line, "\t")
		rva, err := strconv.ParseUint(c[0], 0, 32)
		if err != nil || len(c) < 16 {
			t.Fatalf("%s: %q", path, line)
		}
		rows = append(rows, row{uint32(rva), c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8], c[15]})
	}
	return rows
}

// describe puts a location as the tables do.
func describe(at pdb.Location, ok bool) row {
	r := row{}
	if !ok {
		return r
	}
	if at.Kind != pdb.KindPublic {
		r.function, r.disp = at.Function, fmt.Sprint(at.Displacement)
	}
	if at.Line != 0 || at.File != "" {
		r.file, r.line = at.File, fmt.Sprint(at.Line)
	}
	var chain []string
	for _, in := range at.Inlines {
		line := ""
		if in.Line != 0 {
			line = fmt.Sprint(in.Line)
		}
		chain = append(chain, fmt.Sprintf("%s@%s:%s", in.Name, in.File, line))
	}
	r.inlines = strings.Join(chain, ">")
	if at.Public != "" {
		r.public, r.pdisp = at.Public, fmt.Sprint(at.PublicDisplacement)
	}
	return r
}

// pdbOf finds the PDB that a table is about.
func pdbOf(t testing.TB, table string) string {
	t.Helper()
	name := strings.TrimSuffix(filepath.Base(table), ".tsv")
	parts := strings.Split(name, "__")
	parts[len(parts)-1] += ".pdb"
	path := append([]string{"symbols"}, parts...)
	if parts[0] == "node-pty" {
		path = append([]string{"symbols", "node-pty", "prebuilds"}, parts[1:]...)
	}
	root := corpus.Path(t, "symbols")
	full := filepath.Join(append([]string{root}, path[1:]...)...)
	if _, err := os.Stat(full); err != nil {
		return ""
	}
	return full
}

// allowed is the known reason why a row differs from the reference, "" if there is none.
func allowed(got, want row, folded bool) string {
	rest := got
	switch {
	case folded && (got.file != want.file || got.line != want.line):
		rest.file, rest.line = want.file, want.line
		if rest == want {
			return "of functions that were folded together the reference gives the name of the first and the line of the last"
		}
	case want.function == "" && want.disp != "" && strings.HasPrefix(got.function, "@ILT+"):
		rest.function = ""
		if rest == want {
			return "the reference has no name for the jumps of incremental linking; WinDbg's is given"
		}
	case got.public == "" && got.function == "":
		rest.public, rest.pdisp = want.public, want.pdisp
		if disp, _ := strconv.ParseUint(want.pdisp, 10, 32); rest == want && disp > 1<<30 {
			return "OMAP says that the address is new in the image; the reference takes its mark for an address"
		}
	case got.inlines != want.inlines:
		rest.inlines = want.inlines
		if rest == want && withoutUnknown(want.inlines) == got.inlines && chainOfPeer(want.peer) == positions(got.inlines) {
			return "the reference adds calls of which neither they nor calls inside them cover the address; pdb-addr2line does not"
		}
	}
	return ""
}

// withoutUnknown leaves out the frames of a chain that have no line.
func withoutUnknown(chain string) string {
	return strings.Join(slices.DeleteFunc(frames(chain), func(s string) bool { return strings.HasSuffix(s, ":") }), ">")
}

// chainOfPeer is the file and line of each inlined call among pdb-addr2line's frames, the last of which is the
// function.
func chainOfPeer(peer string) string {
	all := frames(peer)
	return positions(strings.Join(all[:max(len(all)-1, 0)], ">"))
}

// positions are the file and line of each frame of a chain, without its name.
func positions(chain string) string {
	var all []string
	for _, frame := range frames(chain) {
		all = append(all, frame[strings.LastIndexByte(frame, '@')+1:])
	}
	return strings.Join(all, ">")
}

// frames splits a chain behind its lines: names may contain > too.
func frames(chain string) []string {
	var all []string
	from := 0
	for _, at := range frameEnd.FindAllStringIndex(chain, -1) {
		all = append(all, chain[from:at[1]-1])
		from = at[1]
	}
	if from < len(chain) {
		all = append(all, chain[from:])
	}
	return all
}

var frameEnd = regexp.MustCompile(`:\d*>`)

// differencesAllowed is the share of rows that may differ for the reasons of allowed.
const differencesAllowed = 0.006

func TestTables(t *testing.T) {
	tables, err := filepath.Glob(filepath.Join(corpus.Path(t, "symbols", "expected"), "*.tsv"))
	if err != nil || len(tables) == 0 {
		t.Fatal(tables, err)
	}
	all, excused := 0, map[string]int{}
	for _, path := range tables {
		file := pdbOf(t, path)
		if file == "" {
			t.Logf("%s: the PDB is not here", filepath.Base(path))
			continue
		}
		f, err := pdb.OpenFile(file)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		rows := table(t, path)
		bad := 0
		for _, want := range rows {
			at, ok, err := f.Lookup(t.Context(), want.rva)
			if err != nil {
				t.Errorf("%s: %#x: %v", path, want.rva, err)
				break
			}
			got := describe(at, ok)
			got.rva, got.kind, got.peer = want.rva, want.kind, want.peer
			all++
			if got != want {
				if reason := allowed(got, want, at.Folded); reason != "" {
					excused[reason]++
				} else if bad++; bad <= 6 {
					t.Errorf("%s: %s %#x\n got %+v\nwant %+v", filepath.Base(path), at.Kind, want.rva, got, want)
				}
			}
		}
		if bad > 0 {
			t.Logf("%s: %d of %d rows differ", filepath.Base(path), bad, len(rows))
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	sum := 0
	for reason, n := range excused {
		t.Logf("%d of %d rows differ: %s", n, all, reason)
		sum += n
	}
	if float64(sum) > differencesAllowed*float64(all) {
		t.Errorf("%d of %d rows are excused", sum, all)
	}
}
