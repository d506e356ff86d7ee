package minidump_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"heapdrift/ingest/minidump"
	"heapdrift/ingest/minidump/minidumptest"
)

func TestRefusals(t *testing.T) {
	system := func(platform uint32) string {
		return string(minidumptest.Dump{System: minidumptest.System{Platform: platform}}.Bytes())
	}
	for name, c := range map[string]struct{ begin, code, says string }{
		"64-bit kernel":   {"PAGEDU64", minidump.CodeKernelDump, "procdump -ma"},
		"32-bit kernel":   {"PAGEDUMP", minidump.CodeKernelDump, "procdump -ma"},
		"old user dump":   {"USERDUMP", minidump.CodeOldUserDump, ".dump /ma"},
		"old 64-bit dump": {"USERDU64", minidump.CodeOldUserDump, ".dump /ma"},
		"heap dump":       {"HDMP", minidump.CodeOldUserDump, ".dump /ma"},
		"program":         {"MZ\x90\x00", minidump.CodeNotMinidump, "program"},
		"ELF":             {"\x7fELF\x02\x01", minidump.CodeNotMinidump, "ELF"},
		"PDB":             {"Microsoft C/C++ MSF 7.00\r\n\x1aDS", minidump.CodeNotMinidump, "PDB"},
		"zip":             {"PK\x03\x04", minidump.CodeNotMinidump, "unpack"},
		"7z":              {"7z\xbc\xaf\x27\x1c", minidump.CodeNotMinidump, "unpack"},
		"cabinet":         {"MSCF\x00\x00", minidump.CodeNotMinidump, "expand"},
		"gzip":            {"\x1f\x8b\x08", minidump.CodeNotMinidump, "unpack"},
		"zstd":            {"\x28\xb5\x2f\xfd\x04", minidump.CodeNotMinidump, "unpack"},
		"empty":           {"", minidump.CodeNotMinidump, "empty"},
		"zeros":           {strings.Repeat("\x00", 4096), minidump.CodeNotMinidump, "not finished"},
		"text":            {"Hello", minidump.CodeNotMinidump, "MDMP"},
		"short header":    {"MDMP\x93\xa7", minidump.CodeBadHeader, "cut short"},
		"other version":   {"MDMP\x94\xa7" + strings.Repeat("\x01", 26), minidump.CodeBadHeader, "version"},
		"no streams":      {"MDMP\x93\xa7" + strings.Repeat("\x00", 26), minidump.CodeBadHeader, "0 streams"},
		"cut directory": {"MDMP\x93\xa7\x00\x00\x01\x00\x00\x00\x20\x00\x00\x00" + strings.Repeat("\x00", 16),
			minidump.CodeBadHeader, "cut short"},
		"macOS":          {system(0x8101), minidump.CodeOtherSystem, "macOS"},
		"Linux":          {system(0x8201), minidump.CodeOtherSystem, "Linux"},
		"Windows 98":     {system(1), minidump.CodeOtherSystem, "Windows 95"},
		"unknown system": {system(0x9999), minidump.CodeOtherSystem, "0x9999"},
	} {
		d, err := minidump.Open(t.Context(), strings.NewReader(c.begin), int64(len(c.begin)))
		if d != nil || code(err) != c.code || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestSniff(t *testing.T) {
	b := everything().Bytes()
	if !minidump.Sniff(b[:minidump.SniffSize]) || !minidump.Sniff(b) {
		t.Error("a minidump is not recognised")
	}
	for _, not := range [][]byte{nil, b[:31], []byte(strings.Repeat("MDMP", 20))} {
		if minidump.Sniff(not) {
			t.Errorf("%q is taken for a minidump", not)
		}
	}
}

func TestWithoutHeap(t *testing.T) {
	memory := []minidumptest.Memory{{Address: 0x10000, Bytes: bytesOf(1, 0x100)}}
	whole := minidumptest.Dump{Memory: memory}.Bytes()
	unlisted := minidumptest.Dump{Flags: 2, Process: &minidumptest.Process{PID: 1}}
	for name, c := range map[string]struct {
		dump []byte
		says string // "" for a dump that may have heaps
	}{
		"full":                    {whole, ""},
		"full, of another writer": {minidumptest.Dump{Flags: 1, Memory: memory}.Bytes(), ""},
		"private memory":          {minidumptest.Dump{Flags: 0x200, Memory: memory, Small: true}.Bytes(), ""},
		"stacks": {minidumptest.Dump{Flags: 0x1000, Memory: memory, Small: true}.Bytes(),
			"thread stacks and little else (flags 0x1000) (offset 0x18); make a full dump: procdump -ma PID"},
		"nothing":                    {minidumptest.Dump{}.Bytes(), "no memory (flags 0x0)"},
		"full, cut before memory":    {whole[:len(whole)-0x100], "256 bytes of it are missing"},
		"full, without its own list": {unlisted.Bytes(), "has no list of memory"},
	} {
		e := open(t, c.dump).WithoutHeap()
		switch {
		case c.says == "" && e != nil:
			t.Errorf("%s: got %v", name, e)
		case c.says != "" && (e == nil || e.Code != minidump.CodeNoHeap || !strings.Contains(e.Error(), c.says)):
			t.Errorf("%s: got %v", name, e)
		}
	}
}

// Of two streams of one type the first is read, and a problem says that the type is repeated.
func TestRepeatedStream(t *testing.T) {
	second := make([]byte, 4)
	d := open(t, minidumptest.Dump{
		Modules: []minidumptest.Module{{Path: "a.exe", Base: 0x400000}},
		Extra:   []minidumptest.Stream{{Type: 4, Data: second}},
	}.Bytes())
	modules, err := d.Modules()
	if err != nil || len(modules) != 1 || modules[0].Path != "a.exe" {
		t.Errorf("%v, got %+v", err, modules)
	}
	if damage := d.Damage(); len(damage) != 1 || damage[0].Code != minidump.CodeRepeated {
		t.Errorf("damage %v", damage)
	}
}

// A dump that does not name its operating system is read, and a problem says that the name is missing.
func TestWithoutSystem(t *testing.T) {
	d := open(t, minidumptest.Dump{System: minidumptest.System{Absent: true},
		Process: &minidumptest.Process{PID: 7}}.Bytes())
	if damage := d.Damage(); len(damage) != 1 || damage[0].Code != minidump.CodeNoStream ||
		d.System().Arch != minidump.ArchUnknown {
		t.Errorf("damage %v, system %+v", damage, d.System())
	}
	if p, err := d.Process(); err != nil || p.PID != 7 {
		t.Errorf("%v, got %+v", err, p)
	}
}

// failingFile is a file that cannot be read from an offset on.
type failingFile struct {
	io.ReaderAt
	from int64
}

var errDisk = errors.New("the disk is on fire")

func (f failingFile) ReadAt(p []byte, at int64) (int, error) {
	if at+int64(len(p)) > f.from {
		return 0, errDisk
	}
	return f.ReaderAt.ReadAt(p, at)
}

// Wherever reading fails, the error names the cause.
func TestReadingFails(t *testing.T) {
	b := everything().Bytes()
	said := 0
	for from := 0; from <= len(b); from += 13 {
		d, err := minidump.Open(t.Context(), failingFile{bytes.NewReader(b), int64(from)}, int64(len(b)))
		if err != nil {
			if !errors.Is(err, errDisk) || code(err) != minidump.CodeReadFailed {
				t.Fatalf("from %d: %v", from, err)
			}
			continue
		}
		var errs []error
		for _, e := range d.Damage() {
			errs = append(errs, e)
		}
		_, err = d.Modules()
		errs = append(errs, err)
		_, err = d.Threads()
		errs = append(errs, err)
		_, err = d.Handles()
		errs = append(errs, err)
		_, err = d.Regions()
		errs = append(errs, err)
		if errors.Is(errors.Join(errs...), errDisk) {
			said++
		} else if text := render(d); text != render(open(t, b)) && !strings.Contains(text, "on fire") {
			t.Fatalf("from %d: something else is read, and nothing is said:\n%s", from, text)
		}
	}
	if said == 0 {
		t.Error("no failure was told")
	}
}

func TestContext(t *testing.T) {
	b := everything().Bytes()
	ctx, cancel := context.WithCancel(t.Context())
	d, err := minidump.Open(ctx, bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	_, err = d.Modules()
	if !errors.Is(err, context.Canceled) {
		t.Errorf("modules: %v", err)
	}
	for _, n := range []int{8, 0x300} {
		if _, err := d.Memory().ReadMemory(make([]byte, n), 0x8F000); !errors.Is(err, context.Canceled) {
			t.Errorf("memory: %v", err)
		}
	}
	if _, err := minidump.Open(ctx, bytes.NewReader(b), int64(len(b))); !errors.Is(err, context.Canceled) {
		t.Errorf("open: %v", err)
	}
}

// A reader shorter than its stated size gives an error or what it has, not a panic.
func TestShorterThanItsSize(t *testing.T) {
	b := everything().Bytes()
	d, err := minidump.Open(t.Context(), bytes.NewReader(b), int64(len(b))+1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := render(d), render(open(t, b)); got != want {
		t.Errorf("got\n%s", got)
	}
	if _, err := minidump.Open(t.Context(), bytes.NewReader(b[:100]), int64(len(b))); err == nil {
		t.Error("a directory that cannot be read is none")
	}
}
