package backup_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heapdrift/internal/backup"
	"heapdrift/internal/blob"
	"heapdrift/internal/store/storetest"
)

// contents are the blobs in a place, by how many.
func contents(t *testing.T, in blob.Store) (n int) {
	t.Helper()
	for _, err := range in.List(t.Context(), blob.ContentFolder) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

func (p *place) prune(in blob.Store, keep int) backup.Pruned {
	p.Helper()
	return storetest.Must[backup.Pruned](p)(backup.Prune(p.Context(), p.Installation, in, keep, ""))
}

// delete deletes a run for good, with its blob.
func (p *place) delete(run int64) {
	p.Helper()
	p.sql(`delete from jobs where run_id = $1`, run)
	if err := p.Store.DeleteRun(p.Context(), run, "ann"); err != nil {
		p.Fatal(err)
	}
}

// The newest backups stay, with all of their blobs, and what only the old ones had goes. At least one stays.
func TestPrune(t *testing.T) {
	dir := t.TempDir()
	p, to := newPlace(t), open(t, dir)
	if got := p.prune(to, 0); len(got.Backups) > 0 || got.Blobs > 0 {
		t.Errorf("an empty place: %+v", got)
	}
	var names []string
	for i := range 4 { // each has the blobs of two runs, one of them that of the backup before
		e := p.upload(fmt.Sprint(i), fmt.Sprint("content ", i))
		if i > 1 {
			p.delete(e.RunID - 2)
		}
		names = append(names, p.write(to).Name)
	}
	foreign := filepath.Join(dir, "sha256", "notes.txt")
	if err := os.WriteFile(foreign, []byte("not ours"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ keep, stay, blobs, goes int }{{5, 4, 4, 0}, {4, 4, 4, 0}, {3, 3, 4, 0}, {2, 2, 3, 1}, {0, 1, 2, 1}, {1, 1, 2, 0}} {
		before := storetest.Must[[]string](t)(backup.List(t.Context(), to))
		got := p.prune(to, test.keep)
		stay := storetest.Must[[]string](t)(backup.List(t.Context(), to))
		if !slices.Equal(stay, names[4-test.stay:]) || !slices.Equal(slices.Concat(got.Backups, stay), before) || got.Blobs != test.goes ||
			contents(t, to) != test.blobs+1 || got.Bytes != int64(test.goes*len("content 0")) {
			t.Errorf("keep %d: %+v, %d backups and %d blobs stay", test.keep, got, len(stay), contents(t, to)-1)
		}
	}
	if left, err := os.ReadDir(filepath.Join(dir, "backups", names[0])); len(left) > 0 {
		t.Errorf("%v of the first backup are left, %v", left, err)
	}
	if r := newPlace(t).restore(to, "", false); len(r.Lost) > 0 || r.Copied != 2 {
		t.Errorf("%+v", r)
	}
}

// Whatever is uploaded, deleted, copied and pruned, no backup that stays lacks a blob.
func TestPrunedBackupsAreWhole(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	p, to, empty := newPlace(t), open(t, t.TempDir()), newPlace(t)
	rng := rand.New(rand.NewPCG(7, 3))
	var runs []int64
	for i := range 40 {
		switch what := rng.IntN(6); {
		case what < 3:
			runs = append(runs, p.upload(fmt.Sprint(i), fmt.Sprint("content ", rng.IntN(12))).RunID)
		case what == 3 && len(runs) > 0:
			k := rng.IntN(len(runs))
			p.delete(runs[k])
			runs = slices.Delete(runs, k, k+1)
			storetest.Must[int](t)(p.Store.DeleteUnwantedBlobs(t.Context(), 9, func(key string, _ bool) (bool, error) {
				return true, p.Blobs.Delete(t.Context(), key)
			}))
		default:
			p.write(to)
			p.prune(to, 1+rng.IntN(3))
		}
	}
	for _, name := range storetest.Must[[]string](t)(backup.List(t.Context(), to)) {
		if r := empty.restore(to, name, true); len(r.Lost) > 0 || len(empty.dangling()) > 0 {
			t.Errorf("%s: %v", name, r.Lost)
		}
	}
}

// A backup of another installation stays, and so do all blobs.
func TestPruneLeavesOthers(t *testing.T) {
	p, other, to := newPlace(t), newPlace(t), open(t, t.TempDir())
	other.sql(`update installation set id = 'other'`) // databases of tests are copies of one
	other.upload("a", "theirs")
	theirs := other.write(to).Name
	first := p.upload("b", "ours")
	old := p.write(to).Name
	p.delete(first.RunID)
	p.write(to)
	got := p.prune(to, 1)
	if !slices.Equal(got.Backups, []string{old}) || !slices.Equal(got.Foreign, []string{theirs}) || got.Blobs != 0 || contents(t, to) != 2 {
		t.Errorf("%+v, %d blobs", got, contents(t, to))
	}
}

// Where it is not known which blobs a backup has, and while another backup is made, nothing is deleted.
func TestPruneRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		harm func(t *testing.T, folder string)
		says string
	}{
		"no list": {func(t *testing.T, folder string) { // as a version without lists wrote it
			manifest := filepath.Join(folder, "manifest.json")
			text := storetest.Must[[]byte](t)(os.ReadFile(manifest))
			if err := os.WriteFile(manifest, []byte(strings.Replace(string(text), `"blob_keys"`, `"other"`, 1)), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "does not say which blobs it has: nothing was deleted"},
		"damaged list": {func(t *testing.T, folder string) {
			if err := os.WriteFile(filepath.Join(folder, "blobs.copy.zst"), []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "file blobs.copy.zst is damaged: its bytes have another digest: nothing was deleted"},
		"lost list": {func(t *testing.T, folder string) {
			if err := os.Remove(filepath.Join(folder, "blobs.copy.zst")); err != nil {
				t.Fatal(err)
			}
		}, "nothing was deleted"},
		"damaged manifest": {func(t *testing.T, folder string) {
			if err := os.WriteFile(filepath.Join(folder, "manifest.json"), []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "nothing was deleted"},
	} {
		dir := t.TempDir()
		p, to := newPlace(t), open(t, dir)
		p.upload("a", "content")
		p.write(to)
		newest := p.write(to).Name
		test.harm(t, filepath.Join(dir, "backups", newest))
		got, err := backup.Prune(t.Context(), p.Installation, to, 1, "")
		if err == nil || !strings.Contains(err.Error(), test.says) || len(got.Backups) > 0 || contents(t, to) != 1 ||
			len(storetest.Must[[]string](t)(backup.List(t.Context(), to))) != 2 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	p, to := newPlace(t), open(t, t.TempDir())
	p.write(to)
	release := storetest.Must[func() error](t)(p.Store.LockBlobs(t.Context()))
	if _, err := backup.Prune(t.Context(), p.Installation, to, 1, ""); !errors.Is(err, backup.ErrBusy) {
		t.Errorf("during a backup: %v", err)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
}

// A pausedPlace is a place where something happens before a manifest is stored.
type pausedPlace struct {
	blob.Store
	before func()
}

func (p *pausedPlace) Put(ctx context.Context, key string, r io.Reader) (int64, error) {
	if strings.HasSuffix(key, "manifest.json") {
		p.before()
	}
	return p.Store.Put(ctx, key, r)
}

// A backup that is being made loses no blob, whoever makes it.
func TestPruneBesideBackups(t *testing.T) {
	p, other, to := newPlace(t), newPlace(t), open(t, t.TempDir())
	other.sql(`update installation set id = 'other'`)
	p.upload("a", "one")
	for range 2 {
		p.write(to)
	}
	for name, of := range map[string]*place{"its own": p, "another's": other} {
		of.upload("b", name)
		at := &pausedPlace{Store: to, before: func() {
			got, err := backup.Prune(t.Context(), p.Installation, to, 1, "")
			if got.Blobs > 0 || of == p && !errors.Is(err, backup.ErrBusy) || of == other && err != nil {
				t.Errorf("beside %s: %+v, %v", name, got, err)
			}
		}}
		m := storetest.Must[backup.Manifest](t)(backup.Write(t.Context(), of.Installation, at, backup.WriteOptions{}))
		if r := newPlace(t).restore(to, m.Name, false); len(r.Lost) > 0 {
			t.Errorf("%s lacks %+v", name, r.Lost)
		}
	}
}

// The backup that was just written stays, also where others have names of the future.
func TestPruneKeepsWhatWasWritten(t *testing.T) {
	dir := t.TempDir()
	p, to := newPlace(t), open(t, dir)
	p.upload("a", "one")
	old := p.write(to).Name
	const future = "20991231T000000.000Z"
	if err := os.Rename(filepath.Join(dir, "backups", old), filepath.Join(dir, "backups", future)); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "backups", future, "manifest.json")
	text := storetest.Must[[]byte](t)(os.ReadFile(file))
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(string(text), old, future)), 0o600); err != nil {
		t.Fatal(err)
	}
	p.upload("b", "two")
	now := p.write(to).Name
	if got := storetest.Must[backup.Pruned](t)(backup.Prune(t.Context(), p.Installation, to, 1, now)); len(got.Backups) > 0 || got.Blobs > 0 {
		t.Errorf("%+v", got)
	}
}

// The server's own blobs are no place of backups, by whatever name it is opened.
func TestPruneRefusesTheServersBlobs(t *testing.T) {
	p := newPlace(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(p.dir, link); err != nil {
		t.Fatal(err)
	}
	p.upload("a", "one")
	to := open(t, link)
	p.write(to)
	p.write(to)
	if got, err := backup.Prune(t.Context(), p.Installation, to, 1, ""); err == nil || len(got.Backups) > 0 {
		t.Errorf("%+v, %v", got, err)
	}
}
