package worker_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"heapdrift/ingest/evidence"
	"heapdrift/internal/await"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
	"heapdrift/worker/workertest"
)

// textLogs are logs in which names of modules, functions, files, a machine and a test are %[1]s.
var textLogs = map[string]string{
	"difference.txt": "// Each log entry has the following syntax:\n//\n// + BYTES_DELTA (NEW_BYTES - OLD_BYTES) NEW_COUNT allocs BackTrace TRACEID\n" +
		"+    4000 (   4000 -      0)    100 allocs\tBackTrace1A0\n+     100 (    100 -      0)\tBackTrace1A0\tallocations\n\n" +
		"\tntdll!RtlAllocateHeap+00000274\n\tapp%[1]s!Leak%[1]s+00000083 (d:\\app\\%[1]s.cpp, 228)\n\n",
	"snapshot.txt": strings.NewReplacer(`C:\till\till.exe`, `C:\till\%[1]s.exe`, "Machine=LAB", "Machine=L%[1]s").
		Replace(workertest.TillLog(1)),
	"ci.log": "[ RUN      ] Suite.%[1]s\nDirect leak of 7 byte(s) in 1 object(s) allocated from:\n    #0 0x43ef81 in Cache%[1]s::Add c:\\src\\%[1]s.cpp:88\n" +
		"SUMMARY: AddressSanitizer: 7 byte(s) leaked in 1 allocation(s).\n",
}

// FuzzStorableTexts puts a text into all names of three logs and takes them through reader, analysis and PostgreSQL. The
// logs may be refused or read; no job may fail because the database does not store a text.
func FuzzStorableTexts(f *testing.F) {
	if testing.Short() {
		f.Skip("it takes seconds")
	}
	for _, text := range []string{
		"", "\x00", "a\x00b", "\xff\xfe", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\\u0000", "\x1b[2J\x7f\u0085", "\U0001F600\u202e", "'; --", "%s",
		strings.Repeat("é\x00", 500), strings.Repeat("x", 9_000), strings.Repeat("a\x00::", 4_000),
	} {
		f.Add(text)
	}
	p := workertest.StartInChildProcess(f, nil) // in this process: fuzzing sees what the code does
	build := 0
	f.Fuzz(func(t *testing.T, text string) {
		build++
		var run int64
		for name, log := range textLogs {
			e, err := p.Intake.Accept(t.Context(), leaks.UploadTarget{Project: "p", Build: fmt.Sprint(build)}, name,
				strings.NewReader(strings.ReplaceAll(log, "%[1]s", text)))
			switch {
			case evidence.IsRefusal(err):
				continue // the text makes it another file
			case err != nil:
				t.Fatal(err)
			}
			run = e.RunID
		}
		await.Until(t, "the jobs of the run to end", func() bool {
			jobs, err := storetest.Now(t, p.Store).ListJobs(t.Context(), run)
			if err != nil {
				t.Fatal(err)
			}
			for _, j := range jobs {
				if j.ErrorCode == "internal" || strings.Contains(j.Error, "SQLSTATE") {
					t.Fatalf("%q: %s failed: %s", text, j.Kind, j.Error)
				}
			}
			return !slices.ContainsFunc(jobs, func(j store.Job) bool { return j.State == "queued" || j.State == "running" })
		})
	})
}
