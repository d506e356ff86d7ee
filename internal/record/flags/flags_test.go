package flags_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"heapdrift/internal/record/flags"
	"heapdrift/internal/record/flags/flagstest"
)

func dword(n uint32) flags.Value {
	return flags.Value{Type: 4, Data: binary.LittleEndian.AppendUint32(nil, n)}
}

func text(s string) flags.Value {
	v := flags.Value{Type: 1}
	for _, u := range utf16.Encode([]rune(s + "\x00")) {
		v.Data = binary.LittleEndian.AppendUint16(v.Data, u)
	}
	return v
}

const image = "app.exe"

// A recording changes what differs from what it needs, and restores exactly what was there.
func TestApplyAndRestore(t *testing.T) {
	stacks := flags.Want{Stacks: true, DatabaseMB: 256}
	for name, test := range map[string]struct {
		before map[string]flags.Value
		want   flags.Want
		during string
	}{
		"nothing there": {nil, stacks, "app.exe\n  GlobalFlag 0x1000\n  StackTraceDatabaseSizeInMb 0x100"},
		"+ust was on":   {map[string]flags.Value{"GlobalFlag": dword(0x1000)}, flags.Want{Stacks: true}, "app.exe\n  GlobalFlag 0x1000"},
		"other flags": {map[string]flags.Value{"GlobalFlag": dword(0x200)}, flags.Want{Stacks: true},
			"app.exe\n  GlobalFlag 0x1200"},
		"a text of gflags": {map[string]flags.Value{"GlobalFlag": text("0x02000000")}, flags.Want{Stacks: true},
			"app.exe\n  GlobalFlag 0x2001000"},
		"a decimal text": {map[string]flags.Value{"GlobalFlag": text("512")}, flags.Want{Stacks: true}, "app.exe\n  GlobalFlag 0x1200"},
		"a larger database": {map[string]flags.Value{"StackTraceDatabaseSizeInMb": dword(512)}, stacks,
			"app.exe\n  GlobalFlag 0x1000\n  StackTraceDatabaseSizeInMb 0x200"},
		"a smaller database": {map[string]flags.Value{"StackTraceDatabaseSizeInMb": dword(255)}, stacks,
			"app.exe\n  GlobalFlag 0x1000\n  StackTraceDatabaseSizeInMb 0x100"},
		"a trace": {map[string]flags.Value{"TracingFlags": dword(2)}, flags.Want{HeapTracing: true}, "app.exe\n  TracingFlags 0x3"},
		"an unrelated value": {map[string]flags.Value{"Debugger": text("x.exe")}, flags.Want{HeapTracing: true},
			"app.exe\n  Debugger type 1, 78 00 2e 00 65 00 78 00 65 00 00 00\n  TracingFlags 0x1"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &flagstest.Registry{}
			for name, v := range test.before {
				r.Put(image, name, v)
			}
			before := r.String()
			u := apply(t, r, test.want)
			if got := r.String(); got != test.during {
				t.Errorf("during the recording:\n%s\nwant:\n%s", got, test.during)
			}
			for range 2 { // a second time changes nothing
				if notes, err := u.Restore(r); err != nil || len(notes) > 0 {
					t.Errorf("Restore: %q, %v", notes, err)
				}
				if got := r.String(); got != before {
					t.Errorf("restored:\n%s\nwant:\n%s", got, before)
				}
			}
		})
	}
}

// apply makes changes through an undo file, as it is read again.
func apply(t *testing.T, r *flagstest.Registry, want flags.Want) *flags.Undo {
	t.Helper()
	changes, err := flags.Compute(r, image, want)
	if err != nil {
		t.Fatal(err)
	}
	u, err := flags.New(r, image, changes)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := u.Write(dir); err != nil {
		t.Fatal(err)
	}
	if err := u.Apply(r); err != nil {
		t.Fatal(err)
	}
	undos, err := flags.List(dir)
	if err != nil || len(undos) != 1 {
		t.Fatalf("List: %d files, %v", len(undos), err)
	}
	return undos[0]
}

// A text stays a text, which other programs may expect.
func TestTypeStays(t *testing.T) {
	r := &flagstest.Registry{}
	r.Put(image, flags.GlobalFlag, text("0x00000200"))
	apply(t, r, flags.Want{Stacks: true})
	if v, _ := r.Get(image, flags.GlobalFlag); v.Type != 1 || string(v.Data) != string(text("0x00001200").Data) {
		t.Errorf("type %d, %q", v.Type, v.Data)
	}
}

// What somebody else changes during the recording stays, except for the bits of the recording.
func TestChangedMeanwhile(t *testing.T) {
	for name, test := range map[string]struct {
		value      string
		now        flags.Value
		want, says string
	}{
		"another flag":     {flags.GlobalFlag, dword(0x1200), "GlobalFlag 0x200", "only what record added"},
		"flag is off":      {flags.GlobalFlag, dword(0x200), "GlobalFlag 0x200", "it stays"},
		"another database": {flags.TraceDatabase, dword(64), "StackTraceDatabaseSizeInMb 0x40", "it stays"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &flagstest.Registry{}
			u := apply(t, r, flags.Want{Stacks: true, DatabaseMB: 256})
			r.Put(image, test.value, test.now)
			notes, err := u.Restore(r)
			if err != nil || len(notes) != 1 || !strings.Contains(notes[0], test.says) {
				t.Errorf("Restore: %q, %v; want one note with %q", notes, err, test.says)
			}
			if got := r.String(); got != "app.exe\n  "+test.want {
				t.Errorf("restored:\n%s\nwant %s", got, test.want)
			}
		})
	}
}

// A change that fails leaves nothing behind.
func TestApplyFails(t *testing.T) {
	for name, r := range map[string]*flagstest.Registry{
		"the second value":     {Fail: map[string]error{flags.TraceDatabase: flagstest.ErrDenied}},
		"the view of 32 bit":   {Split: true},
		"the only value of it": {Fail: map[string]error{flags.GlobalFlag: flagstest.ErrDenied}},
	} {
		t.Run(name, func(t *testing.T) {
			changes, err := flags.Compute(r, image, flags.Want{Stacks: true, DatabaseMB: 256})
			if err != nil {
				t.Fatal(err)
			}
			u, err := flags.New(r, image, changes)
			if err != nil {
				t.Fatal(err)
			}
			if err := u.Apply(r); err == nil {
				t.Error("Apply reports no failure")
			}
			if got := r.String(); got != "" {
				t.Errorf("left behind:\n%s", got)
			}
		})
	}
}

// A value that is no number is neither changed nor taken for 0.
func TestComputeRefuses(t *testing.T) {
	for _, v := range []flags.Value{text("on"), {Type: 3, Data: []byte{0, 16, 0, 0}}, {Type: 4, Data: []byte{1}}} {
		r := &flagstest.Registry{}
		r.Put(image, flags.GlobalFlag, v)
		if _, err := flags.Compute(r, image, flags.Want{Stacks: true}); err == nil || !strings.Contains(err.Error(), "GlobalFlag") {
			t.Errorf("%s: %v", v.String(), err)
		}
	}
}

// An undo file is applied with the rights of an administrator: only what record writes is accepted.
func TestParseRefuses(t *testing.T) {
	const good = `{"schema":"heapdrift.undo/v1","image":"app.exe","changes":[{"name":"GlobalFlag","before":null,"after":{"type":4,"data":"ABAAAA=="}}]}`
	if _, err := flags.Parse([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for name, replace := range map[string][2]string{
		"another schema":  {"undo/v1", "undo/v2"},
		"another key":     {`"app.exe"`, `"..\\app.exe"`},
		"no program":      {`"app.exe"`, `""`},
		"the parent":      {`"app.exe"`, `".."`},
		"another value":   {"GlobalFlag", "Debugger"},
		"another type":    {`"type":4`, `"type":3`},
		"too few bytes":   {"ABAAAA==", "ABA="},
		"nothing set":     {`{"type":4,"data":"ABAAAA=="}`, "null"},
		"a text, no hex":  {`{"type":4,"data":"ABAAAA=="}`, `{"type":1,"data":"YwBtAGQA"}`},
		"too many bytes":  {"ABAAAA==", strings.Repeat("AAAA", 30)},
		"no JSON":         {`"changes"`, `changes`},
		"longer than any": {`"image"`, `"x":"` + strings.Repeat("x", 70<<10) + `","image"`},
	} {
		if u, err := flags.Parse([]byte(strings.Replace(good, replace[0], replace[1], 1))); err == nil {
			t.Errorf("%s: accepted: %+v", name, u)
		}
	}
}

// Files that cannot be read are reported, and the others are read.
func TestListBesideDamage(t *testing.T) {
	r := &flagstest.Registry{}
	u, err := flags.New(r, image, nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := u.Write(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "damaged.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	undos, err := flags.List(dir)
	if len(undos) != 1 || err == nil || !strings.Contains(err.Error(), "damaged.json") || strings.Contains(err.Error(), "notes.txt") ||
		strings.Contains(err.Error(), "folder.json") {
		t.Fatalf("%d files, %v", len(undos), err)
	}
	// What is listed is the file that was written: it is written again in its place, and removed.
	if undos[0].Path() != u.Path() {
		t.Errorf("it is %s, not %s", undos[0].Path(), u.Path())
	}
	if err := undos[0].Write(dir); err != nil {
		t.Fatal(err)
	}
	if err := undos[0].Remove(); err != nil {
		t.Fatal(err)
	}
	if undos, _ := flags.List(dir); len(undos) != 0 {
		t.Errorf("%d files are left", len(undos))
	}
	if undos, err := flags.List(filepath.Join(dir, "missing")); undos != nil || err != nil {
		t.Errorf("a missing folder: %v, %v", undos, err)
	}
}

func TestImageName(t *testing.T) {
	for path, want := range map[string]string{`C:\Program Files\a b.exe`: "a b.exe", "app.exe": "app.exe", "./x/y.exe": "y.exe",
		`C:\`: "", "": "", "a*.exe": "", "c:x.exe": "", strings.Repeat("a", 255): strings.Repeat("a", 255), strings.Repeat("a", 256): ""} {
		if got := flags.ImageName(path); got != want {
			t.Errorf("ImageName(%q) = %q, want %q", path, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Fuzz(func(t *testing.T, text []byte) {
		u, err := flags.Parse(text)
		if err != nil {
			return
		}
		r := &flagstest.Registry{}
		if _, err := u.Restore(r); err != nil {
			t.Errorf("what was accepted cannot be restored: %v", err)
		}
		for i := range u.Changes {
			_ = u.Changes[i].String()
		}
	})
}

// Of several undo files the oldest comes first, whatever their names.
func TestListInOrder(t *testing.T) {
	r, dir := &flagstest.Registry{}, t.TempDir()
	began := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for i, name := range []string{"b.exe", "c.exe", "a.exe"} {
		u, err := flags.New(r, name, nil)
		if err != nil {
			t.Fatal(err)
		}
		u.SetAt = began.Add(time.Duration(i) * time.Hour)
		if err := u.Write(dir); err != nil {
			t.Fatal(err)
		}
	}
	undos, err := flags.List(dir)
	if err != nil || len(undos) != 3 || undos[0].Image != "b.exe" || undos[1].Image != "c.exe" || undos[2].Image != "a.exe" {
		t.Errorf("%v, %v", undos, err)
	}
}
