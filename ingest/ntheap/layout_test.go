package ntheap

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"heapdrift/internal/corpus"
	"heapdrift/internal/needs"
)

// TestTable parses the embedded table, all of it, and asks each layout for what the walks need.
func TestTable(t *testing.T) {
	text, err := unpackLayouts(layoutTable)
	if err != nil {
		t.Fatal(err)
	}
	if kept, err := os.ReadFile("layouts.txt"); err != nil || text != string(kept) {
		t.Errorf("layouts.txt.gz is not layouts.txt (%v): the comment of tools/heaplayouts says how to make both", err)
	}
	all, err := parseLayouts(text)
	if err != nil {
		t.Fatal(err)
	}
	builds := map[string]bool{}
	for _, l := range all {
		for _, b := range l.builds {
			builds[b.String()+" "+strconv.Itoa(l.bits)] = true
		}
		l.name = l.builds[0].String()
		n, missing := newNTLayout(l, l.bits == 64)
		if missing != "" {
			t.Errorf("%s, %d bits: no %s", l.name, l.bits, missing)
		}
		old := l.builds[0].Major < 6
		if n.old != old || (n.lfh == nil) != old || (n.stampSize == 0) != old {
			t.Errorf("%s, %d bits: old %t, LFH %v, stamp of %d bytes", l.name, l.bits, n.old, n.lfh, n.stampSize)
		}
		if _, missing := newPageHeapLayout(l); (missing != "") != old {
			t.Errorf("%s, %d bits: page heap lacks %q", l.name, l.bits, missing)
		}
	}
	if len(builds) != 41 { // of 51 PDBs; the others are updates
		t.Errorf("%d builds: %v", len(builds), builds)
	}
}

func TestBadTables(t *testing.T) {
	for _, text := range []string{"_HEAP 0x10 Flags 0x4", "layout x64", "layout arm 1.2.3", "layout x64 1.2",
		"layout x64 1.2.3\n_HEAP", "layout x64 1.2.3\n_HEAP 0x10 Flags", "layout x64 1.2.3\n_HEAP 0x10 Flags four"} {
		if _, err := parseLayouts(text); err == nil || !strings.Contains(err.Error(), "line ") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestTableAgainstPDBs compares the table with three public PDBs of ntdll itself: where both know a field they must
// agree.
func TestTableAgainstPDBs(t *testing.T) {
	path := corpus.Path(t, "layouts", "ntdll_public_pdb_layouts.json.xz")
	unpack := exec.CommandContext(t.Context(), needs.Program(t, "xz"), "-dc", path)
	unpack.Stderr = os.Stderr
	text, err := unpack.Output()
	if err != nil {
		t.Fatal(err)
	}
	var pdbs map[string]struct {
		Types map[string]struct {
			Size   string
			Fields map[string]string
		}
	}
	if err := json.NewDecoder(strings.NewReader(string(text))).Decode(&pdbs); err != nil && err != io.EOF {
		t.Fatal(err)
	}
	// Of each, the structures that a walk needs must come out alike too.
	for name, of := range map[string]struct {
		bits  int
		build uint32
	}{"win7-ntdll.pdb": {32, 7601}, "ntdll-x64-b.pdb": {64, 19041}, "wntdll-x86-b.pdb": {32, 19041}} {
		near := choices(&Process{Bits: of.bits}, of.build)[0]
		table := near.types.(tableTypes)
		own := tableTypes{}
		for typ, s := range pdbs[name].Types {
			size, err := strconv.ParseUint(s.Size, 0, 32)
			if err != nil {
				t.Fatal(err)
			}
			fields := map[string]uint64{}
			for field, text := range s.Fields {
				text, _, _ = strings.Cut(text, " ")
				if fields[field], err = strconv.ParseUint(text, 0, 32); err != nil {
					t.Fatal(err)
				}
			}
			own[typ] = structure{size, fields}
		}
		byTable, missing := newNTLayout(near, of.bits == 64)
		byPDB, lacks := newNTLayout(&layout{name: near.name, types: completedTypes{own, table}}, of.bits == 64)
		byTable.lfh.heapSize = byPDB.lfh.heapSize // the table lacks it for some
		if missing != "" || lacks != "" || !reflect.DeepEqual(byTable, byPDB) {
			t.Errorf("%s: the table makes %+v %+v, the PDB %+v %+v; they lack %q and %q", name, byTable, byTable.lfh, byPDB,
				byPDB.lfh, missing, lacks)
		}
		compared := 0
		for typ, s := range table {
			for field, at := range s.fields {
				want, ok := own.Offset(typ, field)
				if !ok {
					continue
				}
				if want != at {
					t.Errorf("%s: %s.%s at %#x, the PDB says %#x", name, typ, field, at, want)
				}
				compared++
			}
		}
		if compared < 60 {
			t.Errorf("%s: %d fields were compared", name, compared)
		}
		t.Logf("%s: %d fields agree", name, compared)
	}
}
