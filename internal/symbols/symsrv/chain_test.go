package symsrv_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heapdrift/internal/symbols/symsrv"
)

const in = "app.pdb/" + key + "/" // the place of app.pdb in a store

// TestChains searches paths in which $ stands for a directory with the files, and compares what is found, what was
// tried, and which files there are afterwards.
func TestChains(t *testing.T) {
	zip := zipped(t, "app.pdb", right)
	lower := strings.ToLower(key)
	for _, c := range []struct {
		name    string
		path    string
		files   map[string]string
		found   string
		results string
		grown   []string // files that were not there before
	}{
		{"a plain directory", "$/d", map[string]string{"d/app.pdb": right}, "d/app.pdb", "found", nil},
		{"its folder of the image's extension", "$/d", map[string]string{"d/dll/app.pdb": right},
			"d/dll/app.pdb", "found", nil},
		{"its folder symbols", "$/d", map[string]string{"d/Symbols/EXE/App.PDB": right},
			"d/Symbols/EXE/App.PDB", "found", nil},
		{"a plain directory that is a store", "$/d", map[string]string{"d/" + in + "app.pdb": right}, "d/" + in + "app.pdb",
			"not-found found", nil},
		{"the wrong file by name, the right one further on", "$/d;$/e",
			map[string]string{"d/app.pdb": wrong, "d/exe/app.pdb": wrong, "e/app.pdb": right}, "e/app.pdb",
			"mismatch mismatch not-found found", nil},
		{"a directory that is not there", "$/none", nil, "", "not-found", nil},
		{"nothing anywhere", "$/d;srv*$/e", map[string]string{"d/x": "", "e/x": ""}, "",
			"not-found not-found not-found", nil},
		{"a directory where the file should be", "srv*$/d", map[string]string{"d/" + in + "app.pdb/x": right}, "",
			"not-found", nil},

		{"a store", "srv*$/s", map[string]string{"s/" + in + "app.pdb": right}, "s/" + in + "app.pdb", "found", nil},
		{"a store with other spellings", "srv*$/s", map[string]string{"s/APP.pdb/" + lower + "/App.pdb": right},
			"s/APP.pdb/" + lower + "/App.pdb", "found", nil},
		{"two folders that differ in case", "srv*$/s",
			map[string]string{"s/APP.pdb/1/x": "", "s/app.PDB/" + lower + "/app.pdb": right}, "s/app.PDB/" + lower +
				"/app.pdb", "found", nil},
		{"a two-tier store", "srv*$/s", map[string]string{"s/index2.txt": "", "s/ap/" + in + "app.pdb": right}, "s/ap/" + in +
			"app.pdb", "found", nil},
		{"a two-tier store without index2.txt", "srv*$/s", map[string]string{"s/ap/" + in + "app.pdb": right}, "s/ap/" + in +
			"app.pdb", "found", nil},
		{"a store that became two-tier", "srv*$/s", map[string]string{"s/INDEX2.txt": "", "s/" + in + "app.pdb": right},
			"s/" + in + "app.pdb", "found", nil},
		{"an MSFZ container", "srv*$/s", map[string]string{"s/" + in + "msfz0/app.pdb": right}, "s/" + in +
			"msfz0/app.pdb", "found", nil},
		{"the wrong file under the key", "srv*$/s", map[string]string{"s/" + in + "app.pdb": wrong}, "", "mismatch", nil},
		{"the wrong file, and the right one compressed", "srv*$/s",
			map[string]string{"s/" + in + "app.pdb": wrong, "s/" + in + "app.pd_": zip}, "cache/" + in + "app.pdb",
			"mismatch found", []string{"cache/" + in + "app.pdb"}},
		{"an empty file", "srv*$/s", map[string]string{"s/" + in + "app.pdb": ""}, "", "failed", nil},

		{"a compressed file in a store that is only read", "srv*$/s", map[string]string{"s/" + in + "app.pd_": zip},
			"cache/" + in + "app.pdb", "found", []string{"cache/" + in + "app.pdb"}},
		{"a compressed file under the plain name", "srv*$/s", map[string]string{"s/" + in + "app.pdb": zip}, "cache/" + in +
			"app.pdb", "found", []string{"cache/" + in + "app.pdb"}},
		{"a compressed file in a plain directory", "$/d", map[string]string{"d/app.pd_": zip}, "cache/" + in + "app.pdb",
			"found", []string{"cache/" + in + "app.pdb"}},
		{"a compressed file in a downstream store", "srv*$/a*$/b", map[string]string{"a/" + in + "app.pd_": zip, "b/x": ""},
			"a/" + in + "app.pdb", "found", []string{"a/" + in + "app.pdb"}},
		{"damaged compression", "srv*$/s", map[string]string{"s/" + in + "app.pd_": zip[:20]}, "", "failed", nil},
		{"compress.exe's format", "srv*$/s", map[string]string{"s/" + in + "app.pd_": "SZDD\x88\xf0\x27\x33A"}, "",
			"failed", nil},

		{"the left store is filled", "srv*$/a*$/b", map[string]string{"b/" + in + "app.pdb": right}, "a/" + in + "app.pdb",
			"not-found found", []string{"a/" + in + "app.pdb"}},
		{"all stores to the left are filled", "srv*$/a*$/b*$/c", map[string]string{"c/" + in + "app.pdb": right}, "a/" + in +
			"app.pdb", "not-found not-found found", []string{"a/" + in + "app.pdb", "b/" + in + "app.pdb"}},
		{"middle ones keep it compressed", "srv*$/a*$/b*$/c", map[string]string{"c/" + in + "app.pd_": zip}, "a/" + in +
			"app.pdb", "not-found not-found found", []string{"a/" + in + "app.pdb", "b/" + in + "app.pd_"}},
		{"a filled store is two-tier", "srv*$/a*$/b", map[string]string{"a/index2.txt": "", "b/" + in + "app.pdb": right},
			"a/ap/" + in + "app.pdb", "not-found found", []string{"a/ap/" + in + "app.pdb"}},
		{"a filled store has the folder in another case", "srv*$/a*$/b",
			map[string]string{"a/App.pdb/1/x": "", "b/" + in + "app.pdb": right}, "a/App.pdb/" + key + "/app.pdb",
			"not-found found", []string{"a/App.pdb/" + key + "/app.pdb"}},
		{"a damaged copy is replaced", "srv*$/a*$/b",
			map[string]string{"a/" + in + "app.pdb": wrong, "b/" + in + "app.pdb": right}, "a/" + in +
				"app.pdb", "mismatch found", nil},
		{"a store that cannot be written to is skipped", "srv*$/file*$/b*$/c",
			map[string]string{"file": "x", "c/" + in + "app.pdb": right}, "b/" + in + "app.pdb", "not-found not-found found",
			[]string{"b/" + in + "app.pdb"}},
		{"a store whose folder cannot be made", "srv*$/a*$/b*$/c",
			map[string]string{"a/app.pdb": "a file, not a folder", "c/" + in + "app.pdb": right}, "b/" + in + "app.pdb",
			"not-found not-found found", []string{"b/" + in + "app.pdb"}},
		{"no store can be written to", "srv*$/file*$/c", map[string]string{"file": "x", "c/" + in + "app.pdb": right}, "c/" +
			in + "app.pdb", "not-found found", nil},
		{"an empty level is the default store", "srv**$/b", map[string]string{"b/" + in + "app.pdb": right}, "cache/" + in +
			"app.pdb", "not-found found", []string{"cache/" + in + "app.pdb"}},
		{"a store of a machine that is not here", `srv*X:\a*$/b`, map[string]string{"b/" + in + "app.pdb": right}, "b/" + in +
			"app.pdb", "failed found", nil},

		{"cache* holds for what is right of it", "$/d;cache*$/c;$/e", map[string]string{"e/app.pdb": right}, "c/" + in +
			"app.pdb", "not-found not-found found", []string{"c/" + in + "app.pdb"}},
		{"cache* does not hold for what is left of it", "$/d;cache*$/c;$/e", map[string]string{"d/app.pdb": right},
			"d/app.pdb", "found", nil},
		{"cache* is searched", "cache*$/c;$/e", map[string]string{"c/" + in + "app.pdb": right, "e/app.pdb": right}, "c/" +
			in + "app.pdb", "found", nil},
		{"cache* without a directory", "cache*;$/e", map[string]string{"e/app.pdb": right}, "cache/" + in + "app.pdb",
			"not-found found", []string{"cache/" + in + "app.pdb"}},
		{"cache* before a chain", "cache*$/c;srv*$/a*$/b", map[string]string{"b/" + in + "app.pdb": right}, "c/" + in +
			"app.pdb", "not-found not-found found", []string{"a/" + in + "app.pdb", "c/" + in + "app.pdb"}},

		{"a pointer", "srv*$/s", map[string]string{"s/" + in + "file.ptr": "PATH:$/far/app.pdb\r\n", "far/App.pdb": right},
			"far/App.pdb", "found", nil},
		{"a bare pointer", "srv*$/s", map[string]string{"s/" + in + "file.ptr": "$/far/app.pdb", "far/app.pdb": right},
			"far/app.pdb", "found", nil},
		{"a pointer to a share", "srv*$/s", map[string]string{"s/" + in + "file.ptr": `path:\\builds\drop\1\app.pdb`,
			"far/1/app.pdb": right}, "far/1/app.pdb", "found", nil},
		{"a pointer to a compressed file fills the chain", "srv*$/a*$/s",
			map[string]string{"s/" + in + "file.ptr": `PATH:\\builds\drop\1\app.pd_`, "far/1/app.pd_": zip}, "a/" + in +
				"app.pdb", "not-found found", []string{"a/" + in + "app.pdb"}},
		{"a message", "srv*$/s", map[string]string{"s/" + in + "file.ptr": "MSG: Not released"}, "", "message", nil},
		{"a pointer to nothing", "srv*$/s", map[string]string{"s/" + in + "file.ptr": "PATH:$/far/app.pdb"}, "",
			"not-found", nil},
		{"a pointer to another file", "srv*$/s", map[string]string{"s/" + in + "file.ptr": "PATH:/etc/passwd"}, "",
			"refused", nil},
		{"a pointer upwards", "srv*$/s",
			map[string]string{"s/" + in + "file.ptr": `PATH:\\builds\drop\..\app.pdb`, "app.pdb": right}, "", "refused", nil},
		{"a pointer to another machine", "srv*$/s", map[string]string{"s/" + in + "file.ptr": `PATH:\\foreign\drop\app.pdb`},
			"", "refused", nil},
		{"a pointer to a server", "srv*$/s", map[string]string{"s/" + in + "file.ptr": `PATH:https://host.example/app.pdb`},
			"", "offline", nil},
		{"an empty pointer", "srv*$/s", map[string]string{"s/" + in + "file.ptr": ""}, "", "failed", nil},
		{"a server that may not be asked", "srv*$/a*https://host.example/x", nil, "", "not-found offline", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := plant(t, c.files)
			for name, content := range c.files {
				if strings.HasSuffix(name, "file.ptr") {
					content = strings.ReplaceAll(content, "$", root)
					if err := os.WriteFile(filepath.Join(root, name), []byte(content), 0o644); err != nil {
						t.Fatal(err)
					}
				}
			}
			before := grown(t, root)
			p := parse(t, strings.ReplaceAll(c.path, "$", root), symsrv.Options{
				Map:   []symsrv.PathMapping{{Windows: `\\builds\drop`, Local: filepath.Join(root, "far")}},
				Cache: filepath.Join(root, "cache"), Check: check,
			})
			for round := range 2 { // the second one finds what the first one kept
				found, lines := find(t, p, app)
				want := ""
				if c.found != "" {
					want = filepath.Join(root, filepath.FromSlash(c.found))
				}
				if found != want {
					t.Fatalf("found %q, not %q:\n%s", found, want, strings.Join(lines, "\n"))
				}
				if got := results(lines); round == 0 && got != c.results {
					t.Errorf("tried: %s, not: %s\n%s", got, c.results, strings.Join(lines, "\n"))
				}
				if found != "" && read(t, found) != right {
					t.Errorf("it holds %q", read(t, found))
				}
				after := slices.DeleteFunc(grown(t, root), func(file string) bool { return slices.Contains(before, file) })
				if !slices.Equal(after, c.grown) {
					t.Errorf("new files: %q, not %q", after, c.grown)
				}
			}
		})
	}
}

func TestWithoutCheck(t *testing.T) {
	root := plant(t, map[string]string{"d/app.pdb": wrong, "s/" + in + "app.pdb": wrong,
		"z/app.pd_": zipped(t, "app.pdb", wrong)})
	opt := symsrv.Options{Cache: filepath.Join(root, "cache")}
	if found, lines := find(t, parse(t, "cache*;"+root+"/d", opt), app); found != filepath.Join(root, "d", "app.pdb") {
		t.Errorf("a file by name was copied under a key that nobody checked: %q", lines)
	}
	if found, _ := find(t, parse(t, "cache*;srv*"+root+"/s", opt), app); found != filepath.Join(root, "cache",
		filepath.FromSlash(in), "app.pdb") {
		t.Errorf("a file under its key was not copied: %q", found)
	}
	if _, lines := find(t, parse(t, root+"/z", opt), app); results(lines) != "refused not-found" {
		t.Errorf("a compressed file by name: %q", lines)
	}
}

func TestWithoutDefaultStore(t *testing.T) {
	root := plant(t, map[string]string{"s/" + in + "app.pd_": zipped(t, "app.pdb", right)})
	if found, lines := find(t, parse(t, "srv**"+root+"/s", symsrv.Options{}), app); found != "" ||
		results(lines) != "failed failed" {
		t.Errorf("%q: %q", found, lines)
	}
}

func TestImages(t *testing.T) {
	root := plant(t, map[string]string{"App.DLL/63E6C7F71f000/app.dll": right, "plain/symbols/dll/app.dll": right})
	id := symsrv.Identity{Name: "app.dll", Timestamp: 0x63E6C7F7, SizeOfImage: 0x1F000}
	for _, path := range []string{"srv*" + root, root + "/plain"} {
		if found, lines := find(t, parse(t, path, symsrv.Options{Check: check}), id); found == "" {
			t.Errorf("%s: %q", path, lines)
		}
	}
}

// TestFolderThatChanges finds a file that came after the folder was listed, in another case than asked for.
func TestFolderThatChanges(t *testing.T) {
	root := t.TempDir()
	p := parse(t, "srv*"+root, symsrv.Options{})
	for i := range 5 {
		id := symsrv.Identity{Name: fmt.Sprintf("app%d.pdb", i), DebugID: key}
		if found, _ := find(t, p, id); found != "" {
			t.Fatal("found in an empty store")
		}
		dir := filepath.Join(root, fmt.Sprintf("APP%d.PDB", i), key)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, id.Name), []byte(right), 0o644); err != nil {
			t.Fatal(err)
		}
		if found, lines := find(t, p, id); found == "" {
			t.Fatalf("%s is there, and was not found: %q", id.Name, lines)
		}
	}
}

func TestCancelled(t *testing.T) {
	root := plant(t, map[string]string{in + "app.pdb": right})
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(os.ErrDeadlineExceeded)
	if _, _, err := parse(t, "srv*"+root, symsrv.Options{}).Find(ctx, app); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%v", err)
	}
}
