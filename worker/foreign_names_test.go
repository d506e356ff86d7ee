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

// A log whose names of modules, functions, files and machine hold NUL and bytes that are no text ends in a report, of
// snapshots as well as of a difference: the database stores none of them as they are.
func TestNamesInALogThatAreNoText(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	const difference = "// Each log entry has the following syntax:\n//\n// + BYTES_DELTA (NEW_BYTES - OLD_BYTES) NEW_COUNT allocs BackTrace TRACEID\n" +
		"+    4000 (   4000 -      0)    100 allocs\tBackTrace1A0\n+     100 (    100 -      0)\tBackTrace1A0\tallocations\n\n" +
		"\tntdll!RtlAllocateHeap+00000274\n\tap\x00p\xff!Le\x00ak\xfe+00000083 (d:\\a\x00pp\\le\xffak.cpp, 228)\n\n"
	p := start(t)
	for name, log := range map[string]string{
		"difference.txt": difference,
		"snapshot.txt": strings.NewReplacer(`C:\till\till.exe`, "C:\\ti\x00ll\\ti\xffll\x00.exe", "Machine=LAB", "Machine=L\x00A\xff").
			Replace(workertest.TillLog(1)),
		"ci.log": "Direct leak of 7 byte(s) in 1 object(s) allocated from:\n    #0 0x43ef81 in Ca\x00che::\xffAdd c:\\s\x00rc\\\xffcache.cpp:88\n" +
			"SUMMARY: AddressSanitizer: 7 byte(s) leaked in 1 allocation(s).\n",
	} {
		run := p.settled(p.upload(name, log))
		if run.ReportKey == "" || run.Error != "" {
			t.Errorf("%s: no report: %+v", name, run)
		}
	}
}
