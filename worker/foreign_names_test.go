package worker_test

import (
	"strings"
	"testing"

	"heapdrift/internal/symbols/pdb/pdbtest"
	"heapdrift/worker/workertest"
)

// Names in a PDB are bytes that a compiler wrote. A name that is no text, holds line breaks or never ends does not stop
// a run.
func TestNamesThatAreNoText(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	p := start(t)
	program := &pdbtest.Program{
		GUID: [16]byte{3: 9}, Age: 1, Sections: pdbtest.Standard(0x1000),
		Structs: []pdbtest.Struct{{Name: "It\xffem", Size: 8}},
		Modules: []pdbtest.Module{{Name: "main.obj", Functions: []pdbtest.Function{{
			Name:    strings.Repeat("Very<Long>::", 3000) + "m\xe4in\r\n\x1b[31m<script>",
			Address: pdbtest.Address{Section: 1, Offset: 0x10}, Length: 0x80,
			Lines:       []pdbtest.Line{{Offset: 0, File: "c:\\till\\\xc4rger\n.cpp", Line: 10}},
			Allocations: []pdbtest.Allocation{{Call: pdbtest.Call{Offset: 0x20, Length: 5}, Type: "It\xffem"}},
		}}}},
	}
	pdb, err := program.PDB()
	if err != nil {
		t.Fatal(err)
	}
	p.symbols("till.pdb", pdb)
	run := p.settled(p.upload("1.txt", workertest.TillLog(1)))
	if run.ReportKey == "" {
		t.Fatalf("no report: %s", run.Error)
	}
	r := p.report(run)
	f := r.Stack(r.Sites[0].Stack)[0]
	if !strings.HasSuffix(f.Function, "m\ufffdin\ufffd\ufffd\ufffd[31m<script>") ||
		f.File != "c:\\till\\\ufffdrger\ufffd.cpp" || f.Type != "It\ufffdem" {
		t.Errorf("%q, %q, %q", f.Function[len(f.Function)-40:], f.File, f.Type)
	}
}
