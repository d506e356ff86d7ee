package capture_test

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"heapdrift/ingest/capture"
)

func names() *capture.Names {
	app := capture.Image{
		ImageID: capture.ImageID{File: "app.exe", Size: 0x5000, DebugID: "0123456789ABCDEF0123456789ABCDEF1"},
		Symbols: capture.SymbolsPrivate,
		PDB:     "app.pdb", UsedDebugID: "0123456789ABCDEF0123456789ABCDEF1", Match: "by its id", Own: true,
		Tried: []capture.Attempt{{Place: `C:\Symbols\app.pdb`, Result: "found"}},
	}
	app.Add(0x1005, capture.NamedFrame{Function: "Grow", File: "a.cpp", Line: 7, Inline: true},
		capture.NamedFrame{Function: "main", Offset: 0x15, File: "main.cpp", Line: 12, Type: "Node"})
	app.Add(0x1009)
	app.Add(0x1010, capture.NamedFrame{Function: "main", Offset: 0x20, Approx: true})
	app.AddOffset(capture.FunctionOffset{Function: "main", Offset: 0x15},
		capture.NamedFrame{Function: "Grow", File: "a.cpp", Line: 7, Inline: true},
		capture.NamedFrame{Function: "main", Offset: 0x15})
	app.AddOffset(capture.FunctionOffset{Function: "idle", Offset: 2}, capture.NamedFrame{Function: "idle", Offset: 2})
	n := &capture.Names{Images: []capture.Image{{ImageID: capture.ImageID{File: "ntdll.dll", Size: 0x1000},
		Symbols: capture.SymbolsNone, Match: "nobody has it", Tried: []capture.Attempt{}}, app}}
	n.Sort()
	return n
}

func namesArtifact(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := names().Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestNames(t *testing.T) {
	want := names()
	got, err := capture.ReadNames(bytes.NewReader(namesArtifact(t)))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%v\n%+v\nwant\n%+v", err, got, want)
	}
	module := capture.Module{Path: `c:\Bin\APP.EXE`, Base: 0x400000, Size: 0x5000,
		DebugID: "0123456789ABCDEF0123456789ABCDEF1"}
	app := got.Image(module.ImageID())
	if app == nil || app.NamedAddresses() != 2 {
		t.Fatalf("%+v", app)
	}
	for rva, want := range map[uint32]int{0x1005: 2, 0x1009: 0, 0x1010: 1, 0: 0, 0x9999: 0} {
		if frames := app.Frames(rva); len(frames) != want {
			t.Errorf("0x%x: %+v", rva, frames)
		}
	}
	module.Size++
	if got.Image(module.ImageID()) != nil || (*capture.Names)(nil).Image(module.ImageID()) != nil {
		t.Error("another image has names")
	}
}

func TestReadNamesRefusesEveryCut(t *testing.T) {
	whole := namesArtifact(t)
	for n := range whole {
		if _, err := capture.ReadNames(bytes.NewReader(whole[:n])); !errors.Is(err, capture.ErrArtifact) {
			t.Fatalf("%d of %d bytes: %v", n, len(whole), err)
		}
	}
	if _, err := capture.ReadNames(bytes.NewReader(artifact(t, sample()))); !errors.Is(err, capture.ErrArtifact) {
		t.Errorf("a capture: %v", err)
	}
}

func FuzzReadNames(f *testing.F) {
	f.Add(namesArtifact(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := capture.ReadNames(bytes.NewReader(data))
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := n.Write(&b); err != nil {
			t.Fatal(err)
		}
		if again, err := capture.ReadNames(&b); err != nil || !reflect.DeepEqual(again, n) {
			t.Fatalf("%v\n%+v\nwant\n%+v", err, again, n)
		}
	})
}
