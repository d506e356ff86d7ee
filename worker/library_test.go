package worker

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/internal/blob"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
	"heapdrift/internal/symbols"
	"heapdrift/internal/testdb"
)

// memoryContent is a file in memory as symbols.Content.
type memoryContent struct{ *strings.Reader }

func (memoryContent) Close() error { return nil }

// singleFilePath is a symbol path that has one file. It counts how often it is asked.
type singleFilePath struct {
	symbols.File
	asked int
}

func newPath(id symbols.Identity, content string) *singleFilePath {
	return &singleFilePath{File: symbols.File{Identity: id, Place: "path", Group: "folder",
		Open: func(context.Context) (symbols.Content, error) {
			return memoryContent{strings.NewReader(content)}, nil
		}}}
}

func (p *singleFilePath) Find(_ context.Context, want symbols.Want) (*symbols.File, []capture.Attempt, error) {
	p.asked++
	if want.Name != p.Name || want.DebugID != p.DebugID {
		return nil, []capture.Attempt{{Place: "path", Result: "not-found"}}, nil
	}
	return &p.File, []capture.Attempt{{Place: "path", Result: "found"}}, nil
}

func (p *singleFilePath) FindByName(context.Context, []string) ([]*symbols.File, []capture.Attempt, error) {
	return []*symbols.File{&p.File}, nil, nil
}

func newLibrary(t *testing.T, path symbols.Library) *teamLibrary {
	t.Helper()
	s, err := store.Open(t.Context(), testdb.New(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return &teamLibrary{store: s, blobs: newBlobs(t), path: path}
}

func newBlobs(t *testing.T) blob.Store {
	t.Helper()
	blobs, err := blob.Open(t.Context(), "file://"+t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return blobs
}

var app = symbols.Identity{Kind: symbols.KindPDB, Name: "app.pdb", PDB: "app.pdb",
	DebugID: "0102030405060708090A0B0C0D0E0F101", Bits: 64, Symbols: capture.SymbolsPrivate}

func text(t *testing.T, c symbols.Content) string {
	t.Helper()
	defer func() { _ = c.Close() }()
	data, err := io.ReadAll(io.NewSectionReader(c, 0, c.Size()))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// A file that only the symbol path has is kept, and is not the team's own until the team uploads it.
func TestFilesOfThePathAreKept(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	path := newPath(app, "content")
	l := newLibrary(t, path)
	want := symbols.Want{Name: app.Name, DebugID: app.DebugID}
	for i := range 2 {
		f, tried, err := l.Find(t.Context(), want)
		if err != nil || f == nil || f.Own || f.Identity != app {
			t.Fatalf("%+v, %v", f, err)
		}
		if path.asked != 1 || len(tried) != 2-i || !strings.HasPrefix(f.Place, teamStore) {
			t.Errorf("time %d: the path was asked %d times; %+v, %+v", i+1, path.asked, f.Place, tried)
		}
		c, err := f.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := text(t, c); got != "content" {
			t.Errorf("it holds %q", got)
		}
	}
	kept, err := storetest.Now(t, l.store).FindSymbolFile(t.Context(), app.Name, app.DebugID)
	if err != nil || kept.Origin != store.OriginServer {
		t.Fatalf("%+v, %v", kept, err)
	}
	if due, err := l.store.DispatchAllJobs(t.Context(), 0); len(due) > 0 || err != nil {
		t.Errorf("what a search found queues %+v, %v", due, err)
	}
	kept.Origin = store.OriginUpload
	if _, err := l.store.CreateSymbolFile(t.Context(), kept); err != nil {
		t.Fatal(err)
	}
	if f, _, err := l.Find(t.Context(), want); err != nil || !f.Own {
		t.Errorf("what the team uploads is not its own: %+v, %v", f, err)
	}
	if files, _, err := l.FindByName(t.Context(), []string{"APP.pdb"}); len(files) != 1 || err != nil {
		t.Errorf("a file of both places counts %d times, %v", len(files), err)
	}
	if f, tried, err := l.Find(t.Context(), symbols.Want{Name: "none.pdb", DebugID: app.DebugID}); f != nil ||
		len(tried) != 2 || err != nil {
		t.Errorf("%+v, %+v, %v", f, tried, err)
	}
}

// Two jobs that make the same index at once do not harm each other, and half an index is never seen.
func TestIndexesThatAreMadeTwice(t *testing.T) {
	c := indexCache{newBlobs(t)}
	whole := bytes.Repeat([]byte("index"), 100_000)
	broken := errors.New("broken")
	err := c.Put(t.Context(), "A-private", func(w io.Writer) error {
		_, _ = w.Write(whole[:1000])
		return broken
	})
	if !errors.Is(err, broken) {
		t.Error(err)
	}
	if got, err := c.Open(t.Context(), "A-private"); got != nil || err != nil {
		t.Errorf("half an index: %v, %v", got, err)
	}
	var makers sync.WaitGroup
	for range 4 {
		makers.Go(func() {
			for range 5 {
				if err := c.Put(t.Context(), "A-private",
					func(w io.Writer) error { _, err := w.Write(whole); return err }); err != nil {
					t.Error(err)
				}
				got, err := c.Open(t.Context(), "A-private")
				if err != nil || got == nil {
					t.Errorf("%v, %v", got, err)
					continue
				}
				if text(t, got) != string(whole) {
					t.Error("not the index that was put")
				}
			}
		})
	}
	makers.Wait()
}
