package intake_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"testing"

	"github.com/klauspost/compress/zstd"

	"heapdrift/internal/blob"
	"heapdrift/internal/intake"
	"heapdrift/internal/sandbox"
	"heapdrift/internal/store"
	"heapdrift/internal/symbols/cab/cabtest"
	"heapdrift/internal/symbols/pdb/pdbtest"
	"heapdrift/internal/symbols/pe/petest"
	"heapdrift/internal/testdb"
)

func TestMain(m *testing.M) {
	sandbox.Main(intake.Sandboxed())
	testdb.Main(m, store.Migrate)
}

// A door is an intake with its stores.
type door struct {
	intake.Intake
	t testing.TB
}

func open(t testing.TB) *door {
	t.Helper()
	s, err := store.Open(t.Context(), testdb.New(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	blobs, err := blob.Open(t.Context(), "file://"+t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &door{intake.Intake{Store: s, Blobs: blobs, MaxBytes: 64 << 20, Sandbox: &sandbox.Runner{ChildMemory: 512 << 20}}, t}
}

func (d *door) send(name string, body []byte) (intake.SymbolsUpload, error) {
	return d.AcceptSymbols(d.t.Context(), "", name, bytes.NewReader(body))
}

func (d *door) must(name string, body []byte) intake.SymbolsUpload {
	d.t.Helper()
	got, err := d.send(name, body)
	if err != nil {
		d.t.Fatalf("%s: %v", name, err)
	}
	return got
}

// keys lists the keys of all blobs.
func (d *door) keys() (keys []string) {
	d.t.Helper()
	for info, err := range d.Blobs.List(d.t.Context(), "") {
		if err != nil {
			d.t.Fatal(err)
		}
		keys = append(keys, info.Key)
	}
	return keys
}

// build is the PDB and the DLL of the build with that number.
func build(t testing.TB, number byte) (pdb, dll []byte) {
	t.Helper()
	p := &pdbtest.Program{GUID: [16]byte{15: number}, Age: 2, Signature: 0x5000_0000 + uint32(number),
		Sections: pdbtest.Standard(0x1000)}
	pdb, err := p.PDB()
	if err != nil {
		t.Fatal(err)
	}
	image, err := petest.Of(p, `C:\build\app.pdb`)
	if err != nil {
		t.Fatal(err)
	}
	if dll, err = image.Bytes(); err != nil {
		t.Fatal(err)
	}
	return pdb, dll
}

// A packedFile is a file of a zip.
type packedFile struct {
	name string
	body []byte
}

func zipOf(files ...packedFile) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b) // on a buffer it cannot fail
	for _, f := range files {
		w, _ := z.Create(f.name)
		_, _ = w.Write(f.body)
	}
	_ = z.Close()
	return b.Bytes()
}

func cabinetOf(t testing.TB, name string, body []byte) []byte {
	t.Helper()
	c := cabtest.Cabinet{Method: cabtest.MSZIP, Files: []cabtest.File{{Name: name, Content: body}}}
	packed, err := c.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return packed
}

func gzipped(body []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(body)
	_ = z.Close()
	return b.Bytes()
}

func zstandard(body []byte) []byte {
	z, _ := zstd.NewWriter(nil) // without options it cannot fail
	return z.EncodeAll(body, nil)
}

const (
	pdbKey = "000000000000000000000000000000072"
	log    = "// \r\n// UMDH: version 10.0.19041.1: Logtime 2026-01-02 03:04 - Machine=LAB - PID=4242\r\n// \r\n"
)
