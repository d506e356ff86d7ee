package collect_test

import (
	"context"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"heapdrift/internal/record/collect"
	"heapdrift/internal/record/flags"
	"heapdrift/internal/record/target"
)

// A fakeTool is umdh.exe or wpr.exe: it writes a text to the file that it is told, and notes how it was called.
type fakeTool struct {
	calls []string
	text  string // "" writes no file
	says  string
	err   error
}

func (f *fakeTool) tools() *collect.Tools {
	return &collect.Tools{
		Run: func(_ context.Context, program string, args ...string) (string, error) {
			f.calls = append(f.calls, program+" "+strings.Join(args, " "))
			path := strings.TrimPrefix(args[len(args)-1], "-f:")
			if f.text != "" && args[0] != "-start" {
				if err := os.WriteFile(path, []byte(f.text), 0o600); err != nil {
					return "", err
				}
			}
			return f.says, f.err
		},
		Find: func(name string, bits int) (string, error) {
			if bits == 32 {
				return "x86/" + name, nil
			}
			return name, nil
		},
	}
}

func utf16Text(s string) string {
	b := []byte{0xFF, 0xFE}
	for _, u := range utf16.Encode([]rune(s)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return string(b)
}

// A log of UMDH counts only where the program ended well and the log has blocks.
func TestUMDH(t *testing.T) {
	const good = "// Dump\r\n40 bytes + 18 at 1B0 by BackTrace7A\r\n"
	for name, test := range map[string]struct {
		tool        fakeTool
		fails, note string
	}{
		"a log":           {fakeTool{text: good}, "", ""},
		"a log in UTF-16": {fakeTool{text: utf16Text(good)}, "", ""},
		"no stacks":       {fakeTool{text: strings.ReplaceAll(good, "7A", "0")}, "", "no call stack"},
		"a long line":     {fakeTool{text: strings.Repeat("x", 9000) + "\n" + good}, "", ""},
		"an empty log":    {fakeTool{text: "\x00"[:0], says: "Warning\r\nFailed to open"}, "wrote no file", ""},
		"it fails":        {fakeTool{text: good, says: "a\r\nAccess denied\r\n", err: errors.New("exit code 5")}, "exit code 5: Access denied", ""},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := collect.New(collect.UMDH, test.tool.tools(), 64)
			if err != nil {
				t.Fatal(err)
			}
			if want := (flags.Want{Stacks: true, DatabaseMB: 64}); c.Want != want || c.WantedAtStart {
				t.Errorf("wants %+v, at the start %t", c.Want, c.WantedAtStart)
			}
			path := filepath.Join(t.TempDir(), "a b.txt")
			cost, err := c.Take(t.Context(), target.Info{PID: 12, Bits: 32}, path, nil)
			if test.fails != "" {
				if err == nil || !strings.Contains(err.Error(), test.fails) {
					t.Errorf("%v, want %q", err, test.fails)
				}
				return
			}
			if err != nil || cost.Bytes != int64(len(test.tool.text)) ||
				!strings.Contains(strings.Join(cost.Notes, ""), test.note) || (test.note == "") != (len(cost.Notes) == 0) {
				t.Errorf("%+v, %v", cost, err)
			}
			if want := []string{"x86/umdh.exe -p:12 -f:" + path}; !slices.Equal(test.tool.calls, want) {
				t.Errorf("called as %q, want %q", test.tool.calls, want)
			}
		})
	}
}

// A file that was there before is no log of this snapshot.
func TestUMDHWritesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.txt")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tool := fakeTool{says: "no rights"}
	c, err := collect.New(collect.UMDH, tool.tools(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Take(t.Context(), target.Info{PID: 12}, path, nil); err == nil || !strings.Contains(err.Error(), "empty file: no rights") {
		t.Errorf("%v", err)
	}
}

// A trace is started with a profile of its own and stopped into its file.
func TestTrace(t *testing.T) {
	for name, pid := range map[string]uint32{"before the start": 0, "of a process": 77} {
		t.Run(name, func(t *testing.T) {
			tool := fakeTool{text: "etl"}
			c, err := collect.New(collect.Trace, tool.tools(), 0)
			if err != nil {
				t.Fatal(err)
			}
			if c.Take != nil || !c.Elevated || c.Want != (flags.Want{HeapTracing: true}) {
				t.Errorf("%+v", c)
			}
			dir := t.TempDir()
			if err := c.Begin(t.Context(), dir, pid); err != nil {
				t.Fatal(err)
			}
			out := filepath.Join(dir, "app.etl")
			cost, err := c.End(t.Context(), out)
			if err != nil || cost.Bytes != 3 {
				t.Errorf("%+v, %v", cost, err)
			}
			profile := filepath.Join(dir, "heapdrift.wprp")
			want := []string{"wpr.exe -start " + profile + "!Heapdrift -filemode -recordtempto " + dir, "wpr.exe -stop " + out}
			if !slices.Equal(tool.calls, want) {
				t.Errorf("called as %q, want %q", tool.calls, want)
			}
			checkProfile(t, profile, pid)
		})
	}
}

// checkProfile reads a profile as XML: every provider and collector that it names is there.
func checkProfile(t *testing.T, path string, pid uint32) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if has := strings.Contains(string(text), `<HeapProcessId Value="77"/>`); has != (pid == 77) {
		t.Errorf("PID %d: %s", pid, text)
	}
	defined, used := map[string]bool{}, []string{}
	for d := xml.NewDecoder(strings.NewReader(string(text))); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		for _, a := range start.Attr {
			switch {
			case a.Name.Local == "Id":
				defined[a.Value] = true
			case strings.HasSuffix(start.Name.Local, "CollectorId") || strings.HasSuffix(start.Name.Local, "ProviderId"):
				used = append(used, a.Value)
			}
		}
	}
	for _, name := range used {
		if !defined[name] {
			t.Errorf("%s is used and not defined", name)
		}
	}
	if len(used) != 4 {
		t.Errorf("uses %q, want two collectors with a provider each", used)
	}
}

func TestTraceFails(t *testing.T) {
	tool := fakeTool{says: "The profiles are already running.", err: errors.New("exit code -984076287")}
	c, err := collect.New(collect.Trace, tool.tools(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Begin(t.Context(), t.TempDir(), 0); err == nil || !strings.Contains(err.Error(), "already running") {
		t.Errorf("Begin: %v", err)
	}
	if _, err := c.End(t.Context(), "x.etl"); err == nil || !strings.Contains(err.Error(), "wpr -cancel") {
		t.Errorf("End: %v", err)
	}
}

// auto takes what costs least of what the machine has, and says why.
func TestAuto(t *testing.T) {
	missing := func(string, int) (string, error) { return "", errors.New("not installed") }
	own := func(context.Context, target.Info, string, *float64) (collect.Cost, error) { return collect.Cost{}, nil }
	withUMDH := (&fakeTool{}).tools()
	withUMDH.HeapReader = own
	for _, test := range []struct {
		tools      *collect.Tools
		want, next string
	}{
		{&collect.Tools{HeapReader: own, Find: missing}, collect.Heap, collect.Dump},
		{withUMDH, collect.Heap, collect.UMDH},
		{(&fakeTool{}).tools(), collect.UMDH, ""},
		{&collect.Tools{Find: missing}, collect.Dump, ""},
	} {
		c, err := collect.New(collect.Auto, test.tools, 0)
		if err != nil || c.Kind != test.want || c.Why == "" {
			t.Errorf("%+v, %v; want %s", c, err, test.want)
			continue
		}
		if next := c.Fallback; (next == nil) != (test.next == "") || next != nil && (next.Kind != test.next || next.Why == "") {
			t.Errorf("%s falls back to %+v, want %q", c.Kind, next, test.next)
		}
	}
	if _, err := collect.New(collect.Heap, &collect.Tools{}, 0); err == nil {
		t.Error("a reader that is not there is used")
	}
	if _, err := collect.New("etw", &collect.Tools{}, 0); err == nil || !strings.Contains(err.Error(), "etw") {
		t.Errorf("an unknown kind: %v", err)
	}
}

// The program of the Windows Kits has the width of the process.
func TestFindTool(t *testing.T) {
	root := t.TempDir()
	for _, folder := range []string{"x64", "x86"} {
		dir := filepath.Join(root, "Windows Kits", "10", "Debuggers", folder)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "umdh.exe"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("ProgramFiles(x86)", root)
	t.Setenv("PATH", t.TempDir())
	for bits, folder := range map[int]string{64: "x64", 32: "x86", 0: "x64"} {
		path, err := collect.FindTool("umdh.exe", bits)
		if err != nil || filepath.Base(filepath.Dir(path)) != folder {
			t.Errorf("%d bit: %s, %v", bits, path, err)
		}
	}
	if _, err := collect.FindTool("wpr.exe", 0); err == nil || !strings.Contains(err.Error(), "Windows SDK") {
		t.Errorf("a missing program: %v", err)
	}
}

// A program that is stopped says so, and what it has started does not hold the recording up.
func TestRun(t *testing.T) {
	if out, err := collect.Run(t.Context(), "sh", "-c", "echo text; exit 3"); out != "text\n" || err == nil || err.Error() != "exit code 3" {
		t.Errorf("%q, %v", out, err)
	}
	if out, err := collect.Run(t.Context(), "sh", "-c", "sleep 5 & echo text"); out != "text\n" || err != nil {
		t.Errorf("%q, %v", out, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := collect.Run(ctx, "sh", "-c", "exit 0"); err == nil {
		t.Error("a stopped program is not reported")
	}
}
