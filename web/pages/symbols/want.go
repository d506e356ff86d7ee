package symbols

import (
	"cmp"
	"fmt"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/quantity"
)

// A symbolWant says which files would name a module's frames.
type symbolWant struct {
	pdb   string // file name
	guid  string // of the PDB as tools print it; "" where the evidence does not say
	age   string // decimal
	image string // file name of the module that proves which PDB it is; "" where the id does
	size  int64  // of the image in memory, in bytes; 0 unknown
	other string // the name that the PDB has where the module is a 32-bit system library of 64-bit Windows
}

// wantOf says what a module lacks. Evidence with ids asks for one PDB; else it takes the PDB of that build, and the
// image with its size in memory tells which build that is.
func wantOf(name, pdb, debugID string, size int64, bits int) symbolWant {
	w := symbolWant{pdb: cmp.Or(pdb, capture.Module{Path: name}.Name()+".pdb")}
	if guid, age, ok := splitDebugID(debugID); ok {
		w.guid, w.age = guid, age
		return w
	}
	w.image, w.size = name, size
	if bits == 32 && pdb == "" && isSystemLibrary(name) {
		w.other = "w" + w.pdb
	}
	return w
}

// isSystemLibrary reports whether 64-bit Windows has a 32-bit library of that name whose PDB starts with a "w".
func isSystemLibrary(name string) bool {
	switch strings.ToLower(capture.Module{Path: name}.Name()) {
	case "ntdll", "kernel32", "kernelbase", "user32", "gdi32", "gdi32full", "win32u", "rpcrt4":
		return true
	}
	return false
}

// splitDebugID takes the GUID, with its dashes, and the age in decimal out of an id. They are what dumpbin /headers
// and a debugger's lmvm print.
func splitDebugID(id string) (guid, age string, ok bool) {
	var n uint32
	if len(id) < 33 || len(id) > 40 || strings.Trim(id, "0123456789ABCDEFabcdef") != "" {
		return "", "", false
	}
	if _, err := fmt.Sscanf(id[32:], "%x", &n); err != nil {
		return "", "", false
	}
	g := strings.ToUpper(id[:32])
	return strings.Join([]string{g[:8], g[8:12], g[12:16], g[16:20], g[20:]}, "-"), fmt.Sprint(n), true
}

// alias is the other name that the PDB may have, in brackets.
func (w symbolWant) alias() string {
	if w.other == "" {
		return ""
	}
	return " (or " + w.other + ")"
}

// proof ends the sentence with what tells the image from those of other builds.
func (w symbolWant) proof() string {
	if w.size <= 0 {
		return ", which identifies the build"
	}
	return fmt.Sprintf(" (%s bytes image size), which identifies the build", quantity.Count(w.size))
}
