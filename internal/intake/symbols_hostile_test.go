package intake_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"heapdrift/ingest/evidence"
	"heapdrift/internal/symbols/pe/petest"
)

// Any cut or changed archive of symbols is taken or refused, and a refused one leaves no blobs.
func TestSymbolsDamaged(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	d := open(t)
	pdb, dll := build(t, 7)
	whole := zipOf(packedFile{"app.dll", dll}, packedFile{"app.pd_", cabinetOf(t, "app.pdb", pdb)})
	// Each archive is read by a process of its own. The structure of a ZIP is at its ends, so fewer are cut between
	// them.
	for at := 0; at < len(whole); {
		if _, err := d.send("cut.zip", whole[:at]); err == nil {
			t.Fatalf("cut at %d: it was taken", at)
		}
		if at < 80 || at >= len(whole)-250 {
			at += max(1, len(whole)/150)
		} else {
			at += max(1, len(whole)/30)
		}
	}
	if keys := d.keys(); len(keys) > 0 {
		t.Fatalf("blobs are left: %v", keys)
	}
	for at := 0; at < len(whole); at += max(1, len(whole)/75) {
		changed := bytes.Clone(whole)
		changed[at] ^= 1 << (at % 8)
		_, err := d.send("changed.zip", changed)
		var refused *evidence.Error
		if err != nil && !errors.As(err, &refused) {
			t.Fatalf("bit at %d: %v", at, err)
		}
	}
	for _, key := range d.keys() {
		if !strings.HasPrefix(key, "sha256/") {
			t.Errorf("%s is left", key)
		}
	}
}

// An image may name its PDB with any bytes; the database accepts only valid text.
func TestSymbolsOfOddReference(t *testing.T) {
	image := petest.Image{Sections: []petest.Section{{Name: ".rdata", RVA: 0x1000, Size: 0x1000}},
		PDB: "C:\\a\xff\x01b\xc0.pdb", Age: 1}
	dll, err := image.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if f := open(t).must("odd.dll", dll).Files[0]; f.PDB == "" || !utf8.ValidString(f.PDB) ||
		strings.Contains(f.PDB, "\x01") {
		t.Errorf("%+v", f)
	}
}

func TestSymbolsOfTwoAtOnce(t *testing.T) {
	d := open(t)
	pdb, dll := build(t, 7)
	body := zipOf(packedFile{"app.pdb", pdb}, packedFile{"app.dll", dll})
	var all sync.WaitGroup
	var mu sync.Mutex
	fresh := map[string]int{}
	for range 8 {
		all.Go(func() {
			got, err := d.send("out.zip", body)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, f := range got.Files {
				if f.New {
					fresh[f.Name]++
				}
			}
		})
	}
	all.Wait()
	if fresh["app.pdb"] != 1 || fresh["app.dll"] != 1 {
		t.Errorf("new: %v, want each once", fresh)
	}
	if keys := d.keys(); len(keys) != 2 {
		t.Errorf("blobs: %v", keys)
	}
}

// A client that leaves while it sends leaves nothing behind.
func TestSymbolsOfClientThatLeaves(t *testing.T) {
	d := open(t)
	pdb, _ := build(t, 7)
	ctx, cancel := context.WithCancel(t.Context())
	body := io.MultiReader(bytes.NewReader(pdb[:1000]),
		readerFunc(func([]byte) (int, error) { cancel(); return 0, ctx.Err() }))
	if _, err := d.AcceptSymbols(ctx, "", "app.pdb", body); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if keys := d.keys(); len(keys) > 0 {
		t.Errorf("blobs are left: %v", keys)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func BenchmarkAcceptSymbols(b *testing.B) {
	d := open(b)
	pdb, _ := build(b, 7)
	pdb = append(pdb, make([]byte, 64<<20-len(pdb))...)
	d.MaxBytes = 0
	b.SetBytes(int64(len(pdb)))
	for i := 0; b.Loop(); i++ {
		if _, err := d.send(fmt.Sprintf("app%d.pdb", i), pdb); err != nil {
			b.Fatal(err)
		}
	}
}
