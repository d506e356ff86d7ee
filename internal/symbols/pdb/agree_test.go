package pdb_test

import (
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"heapdrift/internal/corpus"
	"heapdrift/internal/symbols/pdb"
)

// corpusPDBs are the paths of all PDBs of the corpus.
func corpusPDBs(t testing.TB) []string {
	t.Helper()
	var all []string
	for _, root := range []string{corpus.Path(t, "symbols"), corpus.Path(t, "lab")} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if ext := strings.ToLower(filepath.Ext(path)); err == nil && !d.IsDir() && (ext == ".pdb" || ext == ".pdz") {
				all = append(all, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// Lookup, LookupAll and LocationRanges give the same answer for every address.
func TestLookupsAgree(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	t.Parallel()
	for _, path := range corpusPDBs(t) {
		f, err := pdb.OpenFile(path)
		if err != nil {
			continue // TestOpen knows those
		}
		if !f.Info().NoSections {
			agree(t, f, filepath.Base(path), 200)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// agree compares the answers at both ends and inside of some segments, and in the gaps between them.
func agree(t *testing.T, f *pdb.File, name string, most int) {
	t.Helper()
	var segments []pdb.LocationRange
	if err := f.LocationRanges(t.Context(), func(s pdb.LocationRange) error {
		if n := len(segments); s.End <= s.Start || n > 0 && segments[n-1].End > s.Start {
			t.Fatalf("%s: segment %#x to %#x follows one to %#x", name, s.Start, s.End, segments[n-1].End)
		}
		segments = append(segments, s)
		return nil
	}); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	var rvas []uint32
	var want []pdb.Location
	every := max(1, len(segments)/most)
	for i, s := range segments {
		if i%every != 0 {
			continue
		}
		for _, at := range []uint32{s.Start, s.End - 1, s.Start + random.Uint32N(s.End-s.Start)} {
			rva := at
			if f.Info().OMAP {
				if rva = fromSource(t, f, at); rva == 0 {
					continue
				}
			}
			l := s.Location
			if l.Kind != "" {
				l.Displacement += at - s.Start
			}
			if l.Public != "" {
				l.PublicDisplacement += at - s.Start
			}
			rvas, want = append(rvas, rva), append(want, l)
		}
	}
	out := make([]pdb.Location, len(rvas))
	if err := f.LookupAll(t.Context(), rvas, out); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for i, rva := range rvas {
		if !reflect.DeepEqual(out[i], want[i]) {
			t.Fatalf("%s: %#x:\nLookupAll %+v\nSegments  %+v", name, rva, out[i], want[i])
		}
		if i%10 != 0 {
			continue
		}
		if one, ok, err := f.Lookup(t.Context(), rva); err != nil || !ok || !reflect.DeepEqual(out[i], one) {
			t.Fatalf("%s: %#x:\nLookupAll %+v\nLookup    %+v %v", name, rva, out[i], one, err)
		}
	}
	for i := 1; i < len(segments); i++ {
		if a, b := segments[i-1].End, segments[i].Start; a < b && !f.Info().OMAP {
			if l, ok, err := f.Lookup(t.Context(), a+random.Uint32N(b-a)); ok || err != nil {
				t.Fatalf("%s: between %#x and %#x: %+v %v", name, a, b, l, err)
			}
		}
	}
}

// fromSource maps an address back to the image; it is 0 if ToSource does not return from there to the address.
func fromSource(t *testing.T, f *pdb.File, at uint32) uint32 {
	t.Helper()
	o, err := f.OMAP()
	if err != nil {
		t.Fatal(err)
	}
	rva := uint32(0)
	for _, m := range o.FromSource {
		if m.From > at {
			break
		}
		rva = 0
		if m.To != 0 {
			rva = m.To + at - m.From
		}
	}
	if back, ok := f.ToSource(rva); !ok || back != at {
		return 0
	}
	return rva
}

// Several goroutines may ask one file.
func TestConcurrentLookups(t *testing.T) {
	p := generate(rand.New(rand.NewPCG(5, 6)))
	p.OMAP, p.Original = nil, nil
	f := openProgram(t, p)
	var want []pdb.LocationRange
	if err := f.LocationRanges(t.Context(), func(s pdb.LocationRange) error { want = append(want, s); return nil }); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for _, s := range want {
				if l, _, err := f.Lookup(t.Context(), s.Start); err != nil || !reflect.DeepEqual(l, s.Location) {
					t.Errorf("%#x: %+v %v", s.Start, l, err)
				}
			}
		})
		wg.Go(func() {
			n := 0
			if err := f.LocationRanges(t.Context(), func(pdb.LocationRange) error { n++; return nil }); err != nil || n != len(want) {
				t.Errorf("%d segments of %d: %v", n, len(want), err)
			}
		})
	}
	wg.Wait()
}
