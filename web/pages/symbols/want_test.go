package symbols_test

import (
	"strings"
	"testing"

	"heapdrift/web/pages/symbols"
)

func TestWhatToUpload(t *testing.T) {
	const id = "5E0A4B5C9F1D4E3A8B6C7D8E9FA0B1C2"
	for _, test := range []struct {
		name, pdb, id string
		size          int64
		bits          int
		want          string
	}{
		{"a.dll", "b.pdb", id + "1", 4096, 64, "b.pdb, age 1, GUID 5E0A4B5C-9F1D-4E3A-8B6C-7D8E9FA0B1C2"},
		{"a.dll", "", strings.ToLower(id) + "1f", 4096, 64, "a.pdb, age 31, GUID 5E0A4B5C-9F1D-4E3A-8B6C-7D8E9FA0B1C2"},
		{"a.dll", "b.pdb", id, 4096, 64, "the b.pdb of the recorded build, and best a.dll (4,096 bytes image size), which proves it"}, // no age
		{"a.dll", "b.pdb", id + "123456789", 0, 64, "the b.pdb of the recorded build, and best a.dll, which proves it"},               // no such age
		{"a.dll", "b.pdb", "not an id at all, but as long as one", 0, 64,
			"the b.pdb of the recorded build, and best a.dll, which proves it"},
		{"ntdll.dll", "", "", 0x1000, 32,
			"the ntdll.pdb (or wntdll.pdb) of the recorded build, and best ntdll.dll (4,096 bytes image size), which proves it"},
		{"NTDLL.DLL", "", "", 0, 64, "the NTDLL.pdb of the recorded build, and best NTDLL.DLL, which proves it"},
		{"noextension", "", "", 0, 0, "the noextension.pdb of the recorded build, and best noextension, which proves it"},
	} {
		if got := symbols.WantText(t, test.name, test.pdb, test.id, test.size, test.bits); got != test.want {
			t.Errorf("%s %s %s:\n got %s\nwant %s", test.name, test.pdb, test.id, got, test.want)
		}
	}
}
