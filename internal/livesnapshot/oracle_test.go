package livesnapshot

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/dump"
	"heapdrift/ingest/minidump"
	"heapdrift/internal/corpus"
)

// A process that runs gives the same blocks, sizes and stacks as its dump: each dump of the corpus is served as a
// process whose memory and regions are those of the dump.
func TestOracleDumpsAsProcesses(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(corpus.Path(t, "oracle"), "*.dmp.zst"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no dumps: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".dmp.zst"), func(t *testing.T) {
			t.Parallel()
			data := readDump(t, file)
			want, err := dump.Read(t.Context(), bytes.NewReader(data), int64(len(data)), dump.Options{})
			if err != nil {
				t.Fatal(err)
			}
			target := serveDump(t, data)
			s := newSession(target, want.Process.PID, &Options{})
			got, err := s.take(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if target.suspended.Load() != 1 || target.resumed.Load() != 1 {
				t.Errorf("suspended %d times, resumed %d times", target.suspended.Load(), target.resumed.Load())
			}
			sameModules(t, target, got, want)
			sameBlocks(t, got, want)
			if cost := s.cost(); cost.Vanished > 0 || cost.BytesRead == 0 || cost.Pause <= 0 || cost.LimitHit {
				t.Errorf("%#v", cost)
			}
		})
	}
}

// ranAs is what ntdll was told that a program is called, of those that the list of the dump calls otherwise.
var ranAs = strings.NewReplacer("workp.exe", "work.exe", "work32.exe", "work.exe")

// sameModules compares what the loader's list and the images in memory say with the dump's list. Some dumps leave out
// the pages of ntdll that name its PDB.
func sameModules(t *testing.T, target *dumpTarget, got, want *capture.Capture) {
	t.Helper()
	list := func(c *capture.Capture) string {
		var lines []string
		for _, m := range c.Modules {
			line := fmt.Sprintf("%s %#x %#x", ranAs.Replace(m.FileName()), m.Base, m.Size)
			if _, _, _, ok := minidump.ImagePDB(target.dump.Memory(), m.Base); ok {
				line += " " + m.PDB + " " + m.DebugID
			}
			lines = append(lines, line)
		}
		slices.Sort(lines)
		return strings.Join(lines, "\n")
	}
	if len(got.Modules) == 0 || got.Modules[0].FileName() != got.Process.Name {
		t.Error("the first module is not the program")
	}
	if g, w := list(got), list(want); g != w {
		t.Errorf("modules\n%s\nwant\n%s", g, w)
	}
	if got.Process.Name != want.Process.Name || got.Process.PID != want.Process.PID ||
		got.Process.Bits != want.Process.Bits {
		t.Errorf("process %+v, want %+v", got.Process, want.Process)
	}
}

// blockLines are all blocks with what is known of each, but for the pointers to it, which are not looked for.
func blockLines(c *capture.Capture) []string {
	var lines []string
	for b := range c.Blocks.All() {
		site := &c.Sites[b.Site]
		var stack []string
		for _, f := range c.Stacks.Stack(site.Stack) {
			stack = append(stack, fmt.Sprintf("%x", c.Stacks.Frame(f).Address))
		}
		lines = append(lines, fmt.Sprintf("%#x %d bytes heap %#x trace %#x %v", b.Address, b.Size,
			c.Heaps[site.Heap].Handle, site.Trace, stack))
	}
	return lines
}

func sameBlocks(t *testing.T, got, want *capture.Capture) {
	t.Helper()
	g, w := blockLines(got), blockLines(want)
	if len(g) != len(w) || len(w) == 0 {
		t.Errorf("%d blocks, want %d", len(g), len(w))
	}
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			t.Errorf("block %d is %s, want %s", i, g[i], w[i])
			break
		}
	}
	sum := func(c *capture.Capture) (u capture.Usage) {
		for i := range c.Sites {
			if c.Sites[i].Kind == capture.KindHeap {
				u = u.Add(c.Sites[i].Usage[0])
			}
		}
		return u
	}
	if g, w := sum(got), sum(want); g != w {
		t.Errorf("%+v, want %+v", g, w)
	}
}
