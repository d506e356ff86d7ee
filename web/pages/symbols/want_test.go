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
		{"a.dll", "b.pdb", id, 4096, 64, "b.pdb of the recorded build, if possible with a.dll (4,096 bytes image size), which identifies the build"}, // no age
		{"a.dll", "b.pdb", id + "123456789", 0, 64, "b.pdb of the recorded build, if possible with a.dll, which identifies the build"},               // no such age
		{"a.dll", "b.pdb", "not an id at all, but as long as one", 0, 64,
			"b.pdb of the recorded build, if possible with a.dll, which identifies the build"},
		{"ntdll.dll", "", "", 0x1000, 32,
			"ntdll.pdb (or wntdll.pdb) of the recorded build, if possible with ntdll.dll (4,096 bytes image size), which identifies the build"},
		{"NTDLL.DLL", "", "", 0, 64, "NTDLL.pdb of the recorded build, if possible with NTDLL.DLL, which identifies the build"},
		{"noextension", "", "", 0, 0, "noextension.pdb of the recorded build, if possible with noextension, which identifies the build"},
	} {
		if got := symbols.WantText(t, test.name, test.pdb, test.id, test.size, test.bits); got != test.want {
			t.Errorf("%s %s %s:\n got %s\nwant %s", test.name, test.pdb, test.id, got, test.want)
		}
	}
}
