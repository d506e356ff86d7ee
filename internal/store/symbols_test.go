package store_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/await"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
)

const debugID = "0102030405060708090A0B0C0D0E0F101"

// appPDB is the PDB of the module that snapshot has.
func appPDB(change ...func(*store.SymbolFile)) store.SymbolFile {
	f := store.SymbolFile{
		Kind: "pdb", Name: "app.pdb", Key: debugID, DebugID: debugID, PDB: "app.pdb", Bits: 64, Machine: "x64",
		Symbols: "private", SHA256: "one", Bytes: 7,
		Origin: store.OriginUpload,
	}
	for _, c := range change {
		c(&f)
	}
	return f
}

func addFile(t testing.TB, s *store.Store, f store.SymbolFile) store.CreatedSymbolFile {
	t.Helper()
	return must[store.CreatedSymbolFile](t)(s.CreateSymbolFile(t.Context(), f))
}

// withModule takes a run to its report. Its only module is m, which edit may change in the report.
func withModule(t testing.TB, s *store.Store, to leaks.UploadTarget, m capture.Module, bits uint8,
	edit func(*analysis.Module)) int64 {
	t.Helper()
	c := snapshot(1, 0)
	c.Process.Bits, c.Modules = bits, []capture.Module{m}
	e := addEvidence(t, s, to, "a.txt")
	if err := s.CreateCaptures(t.Context(), claim(t, s), []store.StoredCapture{{Capture: c, ArtifactKey: "a"}}); err != nil {
		t.Fatal(err)
	}
	name(t, s, claim(t, s), "names")
	r := report(t, c)
	r.Modules = []analysis.Module{{Name: m.FileName(), Path: m.Path, Size: m.Size, PDB: m.PDB, DebugID: m.DebugID,
		Symbols: capture.SymbolsNone, Frames: 3, Unnamed: 2}}
	edit(&r.Modules[0])
	save(t, s, claim(t, s), r, "rep", input(t, s, e.RunID).Revision)
	return e.RunID
}

func asItIs(*analysis.Module) {}

// A new symbol file renews the runs that may gain names by it, and no others.
func TestFilesFindTheRunsThatWantThem(t *testing.T) {
	image := func(f *store.SymbolFile) {
		f.Kind, f.Name, f.Key, f.Symbols = "image", "APP.EXE", "5F00000010000", "export"
	}
	sized := func(size int64) func(*store.SymbolFile) {
		return func(f *store.SymbolFile) { f.SizeOfImage = size }
	}
	for what, c := range map[string]struct {
		module capture.Module
		bits   uint8
		edit   func(*analysis.Module)
		before []store.SymbolFile
		file   store.SymbolFile
		want   int
	}{
		"the id that the evidence gives": {module: capture.Module{Path: `C:\x.dll`, DebugID: strings.ToLower(debugID)},
			file: appPDB(), want: 1},
		"another id": {module: capture.Module{Path: `C:\app.exe`, DebugID: "FF" + debugID[2:]},
			file: appPDB()},
		"the name":     {module: capture.Module{Path: `C:\App.exe`, Size: 4096}, file: appPDB(), want: 1},
		"another name": {module: capture.Module{Path: `C:\apps.exe`, Size: 4096}, file: appPDB()},
		"the image's name": {module: capture.Module{Path: `C:\app.exe`, Size: 4096},
			file: appPDB(image), want: 1},
		"the size": {module: capture.Module{Path: `C:\app.exe`, Size: 4096},
			file: appPDB(sized(4096)), want: 1},
		"another size":    {module: capture.Module{Path: `C:\app.exe`, Size: 4096}, file: appPDB(sized(8192))},
		"another bitness": {module: capture.Module{Path: `C:\app.exe`}, bits: 32, file: appPDB()},
		"32-bit system library": {module: capture.Module{Path: `C:\app.exe`}, bits: 32,
			file: appPDB(func(f *store.SymbolFile) { f.Name, f.Bits = "wapp.pdb", 32 }), want: 1},
		"not so on 64 bits": {module: capture.Module{Path: `C:\app.exe`},
			file: appPDB(func(f *store.SymbolFile) { f.Name = "wapp.pdb" })},
		"the PDB that the image names": {module: capture.Module{Path: `C:\app.exe`},
			before: []store.SymbolFile{appPDB(image)},
			file:   appPDB(func(f *store.SymbolFile) { f.Name = "other.pdb" }), want: 1},
		"no frame of it": {module: capture.Module{Path: `C:\app.exe`}, edit: func(m *analysis.Module) { m.Frames = 0 },
			file: appPDB()},
		"named by it already": {module: capture.Module{Path: `C:\app.exe`}, edit: func(m *analysis.Module) {
			m.Symbols, m.Own, m.DebugID = capture.SymbolsPrivate, true, debugID
		}, file: appPDB()},
		"named by it, but not proven": {module: capture.Module{Path: `C:\app.exe`}, edit: func(m *analysis.Module) {
			m.Symbols, m.Own, m.DebugID, m.Unproven = capture.SymbolsPrivate, true, debugID, true
		}, file: appPDB(image), want: 1},
		"named by it, but not as own": {module: capture.Module{Path: `C:\app.exe`}, edit: func(m *analysis.Module) {
			m.Symbols, m.DebugID = capture.SymbolsPrivate, debugID
		}, file: appPDB(), want: 1},
		"from a server": {module: capture.Module{Path: `C:\app.exe`},
			file: appPDB(func(f *store.SymbolFile) { f.Origin = store.OriginServer })},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s, _ := open(t)
			for _, f := range c.before {
				f.SHA256 = "before"
				addFile(t, s, f)
			}
			if c.bits == 0 {
				c.bits = 64
			}
			if c.edit == nil {
				c.edit = asItIs
			}
			run := withModule(t, s, target, c.module, c.bits, c.edit)
			if added := addFile(t, s, c.file); added.Runs != c.want || !added.New {
				t.Errorf("%d runs, want %d; new %v", added.Runs, c.want, added.New)
			}
			if r := must[store.Run](t)(storetest.Now(t, s).FindRun(t.Context(), run)); r.PendingJobs != c.want {
				t.Errorf("%d jobs pending, want %d", r.PendingJobs, c.want)
			}
			if again := addFile(t, s, c.file); again.New || again.Runs != 0 {
				t.Errorf("the same again: %+v", again)
			}
		})
	}
}

// A symbol file that replaces another renews the runs that were named by the replaced one.
func TestReplacedFileRenewsRuns(t *testing.T) {
	s, _ := open(t)
	addFile(t, s, appPDB())
	withModule(t, s, target, capture.Module{Path: `C:\app.exe`}, 64, func(m *analysis.Module) {
		m.Symbols, m.Own, m.DebugID = capture.SymbolsPrivate, true, debugID
	})
	if added := addFile(t, s, appPDB()); added.Runs != 0 {
		t.Errorf("the same file renews %d runs", added.Runs)
	}
	if added := addFile(t, s, appPDB(func(f *store.SymbolFile) { f.SHA256 = "whole" })); added.Runs != 1 {
		t.Errorf("another content renews %d runs", added.Runs)
	}
}

// Of two files for one place the one with more symbols stays, and a file that the team has uploaded stays the team's.
func TestSymbolFilesOfOnePlace(t *testing.T) {
	s, _ := open(t)
	step := func(symbols, sha, origin string, wantSHA, wantOrigin string) {
		t.Helper()
		addFile(t, s, appPDB(func(f *store.SymbolFile) { f.Symbols, f.SHA256, f.Origin = symbols, sha, origin }))
		f := must[store.SymbolFile](t)(storetest.Now(t, s).FindSymbolFile(t.Context(), "APP.PDB", strings.ToLower(debugID)))
		if f.SHA256 != wantSHA || f.Origin != wantOrigin {
			t.Errorf("behind %s %s of %s there is %s of %s, want %s of %s", symbols, sha, origin, f.SHA256,
				f.Origin, wantSHA, wantOrigin)
		}
	}
	step("public", "a", store.OriginServer, "a", store.OriginServer)
	step("public", "a", store.OriginUpload, "a", store.OriginUpload)
	step("private", "b", store.OriginServer, "b", store.OriginUpload)
	step("public", "c", store.OriginUpload, "b", store.OriginUpload)
	step("private", "d", store.OriginUpload, "d", store.OriginUpload)
	step("private", "e", store.OriginServer, "d", store.OriginUpload)
	if _, err := storetest.Now(t, s).FindSymbolFile(t.Context(), "app.pdb", "0"); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
}

func TestSymbolFilesInPages(t *testing.T) {
	s, _ := open(t)
	for i := range 5 {
		addFile(t, s, appPDB(func(f *store.SymbolFile) {
			f.Name, f.Key = fmt.Sprintf("Lib%d.pdb", i),
				fmt.Sprintf("KEY%d", i%2)
		}))
	}
	id := func(name, key string) int64 {
		return must[store.SymbolFile](t)(storetest.Now(t, s).FindSymbolFile(t.Context(), name, key)).ID
	}
	for _, c := range []struct {
		query         store.SymbolQuery
		before, total int
		names         []string
		next          int64
	}{
		{store.SymbolQuery{Limit: 2}, 0, 5, []string{"Lib4.pdb", "Lib3.pdb"}, id("Lib3.pdb", "KEY1")},
		{store.SymbolQuery{Limit: 2, AfterID: id("Lib3.pdb", "KEY1")}, 2, 5, []string{"Lib2.pdb", "Lib1.pdb"},
			id("Lib1.pdb", "KEY1")},
		{store.SymbolQuery{Limit: 2, AfterID: id("Lib1.pdb", "KEY1")}, 4, 5, []string{"Lib0.pdb"}, 0},
		{store.SymbolQuery{Limit: 2, AfterID: id("Lib0.pdb", "KEY0")}, 5, 5, nil, 0},
		{store.SymbolQuery{Limit: 9, Filter: "lib3"}, 0, 1, []string{"Lib3.pdb"}, 0},
		{store.SymbolQuery{Limit: 9, Filter: "key1"}, 0, 2, []string{"Lib3.pdb", "Lib1.pdb"}, 0},
		{store.SymbolQuery{Limit: 9, Filter: "key1", AfterID: id("Lib2.pdb", "KEY0")}, 1, 2, []string{"Lib1.pdb"}, 0}, // which the filter leaves out
		{store.SymbolQuery{Limit: 9, Filter: "%"}, 0, 0, nil, 0},
	} {
		page, err := storetest.Now(t, s).ListSymbolFiles(t.Context(), c.query)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, f := range page.Files {
			names = append(names, f.Name)
		}
		if page.RowsBefore != c.before || page.Total != c.total || page.NextAfterID() != c.next || !slices.Equal(names, c.names) {
			t.Errorf("%+v: %q behind %d of %d, next %d", c.query, names, page.RowsBefore, page.Total, page.NextAfterID())
		}
	}
	named := must[[]store.SymbolFile](t)(storetest.Now(t, s).ListSymbolFilesByName(t.Context(), []string{"LIB1.PDB",
		"none"}))
	if len(named) != 1 || named[0].Name != "Lib1.pdb" {
		t.Errorf("%+v", named)
	}
}

func TestWantedModules(t *testing.T) {
	s, _ := open(t)
	small, large := target, target
	large.Run = "2"
	lib := capture.Module{Path: `C:\lib.dll`, Size: 4096, DebugID: debugID, PDB: "lib.pdb"}
	withModule(t, s, small, lib, 64, func(m *analysis.Module) { m.UnnamedHeld = analysis.Amount{Count: 1, Bytes: 10} })
	run := withModule(t, s, large, lib, 64, func(m *analysis.Module) {
		m.UnnamedHeld, m.Match, m.Mismatch = analysis.Amount{Count: 5, Bytes: 50}, "none fits", true
		m.Tried = []capture.Attempt{{Place: "team store", Result: "mismatch"}}
	})
	other := target
	other.Run = "3"
	withModule(t, s, other, capture.Module{Path: `C:\app.exe`, Size: 1}, 64,
		func(m *analysis.Module) { m.UnnamedHeld.Bytes = 20 })
	other.Run = "4"
	withModule(t, s, other, capture.Module{Path: `C:\named.exe`, Size: 1}, 64, func(m *analysis.Module) { m.Unnamed = 0 })
	list := must[[]store.WantedModule](t)(storetest.Now(t, s).ListWantedModules(t.Context(), target.Project, 10))
	if len(list) != 2 || list[1].Name != "app.exe" {
		t.Fatalf("%+v", list)
	}
	m := list[0]
	if m.Name != "lib.dll" || m.PDB != "lib.pdb" || m.DebugID != debugID || m.Size != 4096 || m.Bits != 64 ||
		m.Symbols != "mismatch" || m.Match != "none fits" ||
		m.Runs != 2 || m.LastRunID != run || m.UnnamedFrames != 2 || m.UnnamedCount != 5 || m.UnnamedBytes != 50 || len(m.Tried) != 1 {
		t.Errorf("%+v", m)
	}
	other.Run = "5"
	withModule(t, s, other, capture.Module{Path: `C:\guessed.exe`, Size: 1}, 64,
		func(m *analysis.Module) { m.Unnamed, m.Symbols, m.UnnamedHeld.Bytes = 0, capture.SymbolsExport, 5 })
	if list := must[[]store.WantedModule](t)(storetest.Now(t, s).ListWantedModules(t.Context(), target.Project,
		10)); len(list) != 3 || list[2].Name != "guessed.exe" {
		t.Errorf("%+v", list)
	}
	if list := must[[]store.WantedModule](t)(storetest.Now(t, s).ListWantedModules(t.Context(),
		target.Project, 1)); len(list) != 1 {
		t.Errorf("%d modules, want 1", len(list))
	}
	if _, err := storetest.Now(t, s).ListWantedModules(t.Context(), "nobody", 1); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
}

// A search that began earlier and ends later does not replace the names of the later one.
func TestOlderNamesDoNotReplaceNewer(t *testing.T) {
	s, _ := open(t)
	run := withModule(t, s, target, capture.Module{Path: `C:\app.exe`}, 64, asItIs)
	if err := s.CreateSymboliseJob(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	slow := claim(t, s)
	old := must[store.SymbolSearch](t)(s.BeginSymbolSearch(t.Context(), run))
	if added := addFile(t, s, appPDB()); added.Runs != 1 {
		t.Errorf("%d runs renewed while one is being named", added.Runs)
	}
	name(t, s, claim(t, s), "newer")
	revision := input(t, s, run).Revision
	if err := s.UpdateNames(t.Context(), slow, old, "older"); err != nil {
		t.Fatal(err)
	}
	if in := input(t, s, run); in.NamesKey != "newer" || in.Revision != revision {
		t.Errorf("%+v", in)
	}
}

// A search that fails for good does not hold back the report, and its error is shown until a search succeeds.
func TestFailedNaming(t *testing.T) {
	s, _ := open(t)
	run := withModule(t, s, target, capture.Module{Path: `C:\app.exe`}, 64, asItIs)
	if err := s.CreateSymboliseJob(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	if err := s.FailJob(t.Context(), claim(t, s),
		store.Failure{Code: "internal", Message: "the share is away", Final: true}); err != nil {
		t.Fatal(err)
	}
	in := input(t, s, run)
	if in.NamesError != "the share is away" || in.NamesKey != "names" {
		t.Errorf("%+v", in)
	}
	analyse := claim(t, s)
	if analyse.Kind != store.JobAnalyse {
		t.Errorf("%+v", analyse)
	}
	save(t, s, analyse, report(t, snapshot(1, 0)), "rep", in.Revision)
	if err := s.CreateSymboliseJob(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	name(t, s, claim(t, s), "names")
	if in := input(t, s, run); in.NamesError != "" {
		t.Errorf("%+v", in)
	}
	if err := s.CreateSymboliseJob(t.Context(), run+1); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
}

// A job that is given back while the same job is queued again gives way to the queued one.
func TestGivenBackJobGivesWay(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	for what, give := range map[string]func(t *testing.T, s *store.Store, l store.Lease) error{
		"released": func(t *testing.T, s *store.Store, l store.Lease) error { return s.ReleaseJob(t.Context(), l) },
		"failed": func(t *testing.T, s *store.Store, l store.Lease) error {
			return s.FailJob(t.Context(), l, store.Failure{Code: "internal", Message: "x"})
		},
		"reaped": func(t *testing.T, s *store.Store, l store.Lease) error {
			if _, err := s.RenewLease(t.Context(), l, -time.Second); err != nil {
				return err
			}
			_, err := s.ReapJobs(t.Context())
			return err
		},
	} {
		t.Run(what, func(t *testing.T) {
			s, _ := open(t)
			run := withModule(t, s, target, capture.Module{Path: `C:\app.exe`}, 64, asItIs)
			for range 2 { // one runs, one waits
				if err := s.CreateSymboliseJob(t.Context(), run); err != nil {
					t.Fatal(err)
				}
			}
			first := claim(t, s)
			if err := s.CreateSymboliseJob(t.Context(), run); err != nil {
				t.Fatal(err)
			}
			if err := give(t, s, first); err != nil {
				t.Fatal(err)
			}
			if second := claim(t, s); second.ID == first.ID || second.Kind != store.JobSymbolise {
				t.Errorf("claimed %+v behind %+v", second.Job, first.Job)
			}
		})
	}
}

// slowCommits delays the commit of every transaction that adds a symbol file.
func slowCommits(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	_, err := conn.Exec(t.Context(), `
		create function dawdle() returns trigger language plpgsql as $$ begin perform pg_sleep(0.4); return null; end $$;
		create constraint trigger dawdle after insert on symbol_files deferrable initially deferred for each row execute function dawdle()`)
	if err != nil {
		t.Fatal(err)
	}
}

// A search that starts, or captures that arrive, while a symbol file is being added wait for the file: neither misses
// the other.
func TestFileThatIsBeingAddedIsSeen(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	for what, queued := range map[string]bool{"by a search that is queued": true,
		"by the search for captures that come": false} {
		t.Run(what, func(t *testing.T) {
			s, conn := open(t)
			e := addEvidence(t, s, target, "a.txt")
			read := claim(t, s)
			saveCaptures := func() {
				if err := s.CreateCaptures(t.Context(), read,
					[]store.StoredCapture{{Capture: snapshot(1, 0), ArtifactKey: "a"}}); err != nil {
					t.Fatal(err)
				}
			}
			due := func() []store.DueJob { return must[[]store.DueJob](t)(s.DispatchAllJobs(t.Context(), time.Hour)) }
			var handed []store.DueJob // to a worker, which has not claimed it yet
			if queued {
				saveCaptures()
				handed = due()
			}
			slowCommits(t, conn)
			var adding sync.WaitGroup
			adding.Go(func() {
				if _, err := s.CreateSymbolFile(t.Context(), appPDB()); err != nil {
					t.Error(err)
				}
			})
			await.Until(t, "the file that is about to be committed", func() bool {
				var n int
				err := conn.QueryRow(t.Context(), `select count(*) from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()`).Scan(&n)
				return err == nil && n > 0
			})
			if !queued {
				saveCaptures()
				handed = due()
			}
			search := must[store.Lease](t)(s.ClaimJob(t.Context(), handed[0].ID, time.Minute))
			seen := must[[]store.SymbolFile](t)(storetest.Now(t, s).ListSymbolFilesByName(t.Context(), []string{"app.pdb"}))
			adding.Wait()
			later := must[[]store.Job](t)(storetest.Now(t, s).ListJobs(t.Context(), e.RunID))
			if last := later[len(later)-1]; len(seen) == 0 && last.ID == search.ID {
				t.Error("the search misses the file, and no other follows")
			}
		})
	}
}

// In whatever order files, captures and searches come, the last search of each run begins after all files are there.
func TestNoFileIsMissed(t *testing.T) {
	s, _ := open(t)
	const runs, files = 8, 12
	var wait sync.WaitGroup
	pause := func() {
		time.Sleep(time.Duration(rand.IntN(4000)) * time.Microsecond) //nolint:forbidigo // another order each time
	}
	stop := make(chan struct{})
	var mu sync.Mutex
	seen := map[int64]int{} // files that the stored names of a run rest on
	work := func() (did bool) {
		due, err := s.DispatchAllJobs(t.Context(), time.Hour)
		if err != nil {
			t.Error(err)
			return false
		}
		for _, d := range due {
			l, err := s.ClaimJob(t.Context(), d.ID, time.Minute)
			if err != nil {
				t.Error(err)
				continue
			}
			pause()
			switch l.Kind {
			case store.JobRead:
				c := snapshot(1, 0)
				c.Modules[0].Size = 4096
				err = s.CreateCaptures(t.Context(), l, []store.StoredCapture{{Capture: c, ArtifactKey: "a"}})
			case store.JobSymbolise:
				naming := must[store.SymbolSearch](t)(s.BeginSymbolSearch(t.Context(), l.RunID))
				found := must[[]store.SymbolFile](t)(store.Read(t.Context(), s, func(v store.View) ([]store.SymbolFile, error) {
					return v.ListSymbolFilesByName(t.Context(), []string{"app.pdb"})
				}))
				pause()
				mu.Lock()
				if err = s.UpdateNames(t.Context(), l, naming, fmt.Sprint(len(found))); err == nil {
					if in := input(t, s, l.RunID); in.NamesKey == fmt.Sprint(len(found)) {
						seen[l.RunID] = len(found)
					}
				}
				mu.Unlock()
			default:
				r := report(t, snapshot(1, 0))
				r.Modules[0].Frames, r.Modules[0].Unnamed, r.Modules[0].Size = 2, 2, 4096
				err = s.UpdateResult(t.Context(), l, store.Result{Report: r, ReportKey: "r", Revision: input(t, s, l.RunID).Revision})
			}
			if err != nil {
				t.Error(err)
			}
		}
		return len(due) > 0
	}
	var workers sync.WaitGroup
	for range 3 {
		workers.Go(func() {
			for {
				did := work()
				select {
				case <-stop:
					if !did {
						return
					}
				default:
					pause()
				}
			}
		})
	}
	wait.Go(func() {
		for i := range runs {
			to := target
			to.Run = fmt.Sprint(i)
			addEvidence(t, s, to, "a.txt")
			pause()
		}
	})
	wait.Go(func() {
		for i := range files {
			addFile(t, s, appPDB(func(f *store.SymbolFile) { f.Key = fmt.Sprint(i) }))
			pause()
		}
	})
	wait.Wait()
	close(stop)
	workers.Wait()
	for work() {
	}
	for run, n := range seen {
		if n != files {
			t.Errorf("run %d was named by %d of %d files", run, n, files)
		}
	}
	if len(seen) != runs {
		t.Errorf("%d of %d runs named", len(seen), runs)
	}
}
