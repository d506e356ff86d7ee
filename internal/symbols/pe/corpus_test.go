package pe_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heapdrift/internal/corpus"
	"heapdrift/internal/symbols/pe"
)

// images are the files of a corpus folder that hold images, by path relative to it.
func images(t testing.TB, folder string) map[string]*pe.File {
	t.Helper()
	root := corpus.Path(t, folder)
	found := map[string]*pe.File{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() ||
			!slices.Contains([]string{".exe", ".dll", ".sys", ".node"}, strings.ToLower(filepath.Ext(path))) {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		f, err := pe.Open(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		rel, err := filepath.Rel(root, path)
		found[filepath.ToSlash(rel)] = f
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		t.Fatalf("no images below %s", root)
	}
	return found
}

// TestIndex compares with the corpus's table of images, which another reader made.
func TestIndex(t *testing.T) {
	text, err := os.ReadFile(corpus.Path(t, "symbols", "INDEX.md"))
	if err != nil {
		t.Fatal(err)
	}
	files := images(t, "symbols")
	_, table, _ := strings.Cut(string(text), "## Images (PE)")
	compared := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) < 9 {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		f := files[cells[1]]
		if f == nil {
			continue // the corpus holds a selection of what the table lists
		}
		compared++
		c, _, err := f.CodeView()
		if err != nil {
			t.Errorf("%s: %v", cells[1], err)
		}
		id := "None"
		if c.Format != "" {
			id = c.DebugID()
		}
		got := []string{fmt.Sprintf("%x", f.Info().Machine), f.Info().ImageKey(), id, c.Path}
		if !slices.Equal(got, cells[2:6]) {
			t.Errorf("%s is %q, want %q", cells[1], got, cells[2:6])
		}
	}
	if compared < 10 {
		t.Errorf("%d images compared", compared)
	}
	t.Logf("%d images compared", compared)
}

// labModule is what the lab's truth says about a module and the return addresses in it.
type labModule struct {
	Binary string
	Stamp  string
	Size   uint32
	PDB    string
	GUID   string
	Calls  []uint32
}

func labModules(t testing.TB) []labModule {
	t.Helper()
	truths, err := filepath.Glob(corpus.Path(t, "lab") + "/*/truth.json")
	if err != nil || len(truths) == 0 {
		t.Fatalf("no truth.json in the lab: %v", err)
	}
	byBinary := map[string]*labModule{}
	for _, path := range truths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var truth struct {
			Runs []struct {
				Modules []struct {
					Name, PDB, GUID, Binary string
					TimeDateStamp           string
					Size, Age               uint32
				}
				Stacks []struct {
					Frames []struct {
						Module string
						RVA    uint32
					}
				}
			}
		}
		if err := json.Unmarshal(content, &truth); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for _, run := range truth.Runs {
			own := map[string]*labModule{}
			for _, m := range run.Modules {
				if !strings.HasPrefix(m.Binary, "bin/") {
					continue // a PDB of Windows, whose image is not there
				}
				if byBinary[m.Binary] == nil {
					byBinary[m.Binary] = &labModule{m.Binary, m.TimeDateStamp, m.Size, m.PDB, fmt.Sprintf("%s%X", m.GUID, m.Age), nil}
				}
				own[m.Name] = byBinary[m.Binary]
			}
			for _, stack := range run.Stacks {
				for _, frame := range stack.Frames {
					if m := own[frame.Module]; m != nil {
						m.Calls = append(m.Calls, frame.RVA)
					}
				}
			}
		}
	}
	var modules []labModule
	for _, m := range byBinary {
		slices.Sort(m.Calls)
		m.Calls = slices.Compact(m.Calls)
		modules = append(modules, *m)
	}
	slices.SortFunc(modules, func(a, b labModule) int { return strings.Compare(a.Binary, b.Binary) })
	return modules
}

func TestLabIdentity(t *testing.T) {
	files := images(t, "lab")
	for _, m := range labModules(t) {
		f := files[m.Binary]
		if f == nil {
			t.Errorf("%s is not there", m.Binary)
			continue
		}
		c, ok, err := f.CodeView()
		if err != nil || !ok || c.DebugID() != m.GUID || c.FileName() != m.PDB {
			t.Errorf("%s names %s %s, want %s %s (%v)", m.Binary, c.FileName(), c.DebugID(), m.PDB, m.GUID, err)
		}
		if want := fmt.Sprintf("%s%x", m.Stamp, m.Size); f.Info().ImageKey() != want {
			t.Errorf("%s has the key %s, want %s", m.Binary, f.Info().ImageKey(), want)
		}
	}
}

// TestLabCallSites checks that every return address in the lab's own modules follows a call. In the images of the
// symbols corpus it counts how many addresses of code do so by chance.
func TestLabCallSites(t *testing.T) {
	files := images(t, "lab")
	sites, chance, asked := 0, 0, 0
	for _, m := range labModules(t) {
		f := files[m.Binary]
		for _, rva := range m.Calls {
			sites++
			if got := f.CallSite(rva); got != pe.CallYes {
				t.Errorf("%s: the return address %#x is a call site: %v", m.Binary, rva, got)
			}
		}
	}
	for name, f := range images(t, "symbols") {
		yes, all := 0, 0
		for _, s := range f.Info().Sections {
			if s.Executable() {
				for rva := s.RVA + 16; rva < s.RVA+min(s.Size, s.RawSize); rva++ {
					all++
					if f.CallSite(rva) == pe.CallYes {
						yes++
					}
				}
			}
		}
		if all > 0 && yes*10 > all {
			t.Errorf("%s: %d of %d addresses follow a CALL", name, yes, all)
		}
		chance, asked = chance+yes, asked+all
	}
	if sites < 50 {
		t.Errorf("only %d return addresses in the lab", sites)
	}
	t.Logf("%d return addresses; of all %d addresses of the code of other images, %.2f %% follow a CALL", sites, asked,
		100*float64(chance)/float64(asked))
}
