package etl_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"heapdrift/ingest/etl"
	"heapdrift/ingest/evidence"
)

// session is a small trace of three buffers on two CPUs, with stacks by key.
func session(mode uint32) []byte {
	t := newTiny(func(t *tinyTrace) { t.mode = mode })
	t.add(0, 1, alloc(2000, 0xA0), alloc(2002, 0xA1), key(2010, 2000, 1), key(2012, 2002, 2),
		define(2020, 1, 0x77001, 0x77002))
	t.add(1, 2, alloc(2001, 0xB0), stack(2011, 2001, 0x77003), alloc(2030, 0xB1), key(2031, 2030, 1))
	t.add(0, 3, define(2040, 1, 0x77004), define(2041, 2, 0x77005), alloc(2050, 0xA2))
	return t.file
}

const compressed = 0x04000000

// addresses reads a trace and returns the blocks in the order of time.
func addresses(t testing.TB, trace *etl.Trace) (list []uint64) {
	t.Helper()
	if err := trace.Events(context.Background(), func(e *etl.Event) error {
		if a, ok := e.HeapAlloc(); ok && e.Kind == etl.KindHeapAlloc {
			list = append(list, a.Address)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return list
}

var wholeSession = []uint64{0xA0, 0xB0, 0xA1, 0xB1, 0xA2}

// TestCut cuts a trace at every byte: the events that are read are some of the whole trace's, in order, and no fewer
// than with an earlier cut.
func TestCut(t *testing.T) {
	for _, mode := range []uint32{0, compressed} {
		file := session(mode)
		if got := addresses(t, open(t, file)); !slices.Equal(got, wholeSession) {
			t.Fatalf("mode %#x: %x", mode, got)
		}
		most := 0
		for n := range file {
			trace, err := etl.Open(t.Context(), sources(file[:n]), etl.Options{})
			if err != nil {
				var e *evidence.Error
				if !errors.As(err, &e) || e.Code != etl.CodeNotETL && e.Code != etl.CodeBadHeader || n > 0x200 {
					t.Fatalf("cut at %d: %v", n, err)
				}
				continue
			}
			got := addresses(t, trace)
			if len(got) < most {
				t.Errorf("cut at %d: %d events, and %d with less of the file", n, len(got), most)
			}
			most = len(got)
			rest := slices.DeleteFunc(slices.Clone(wholeSession), func(a uint64) bool { return !slices.Contains(got, a) })
			if !slices.Equal(got, rest) {
				t.Errorf("cut at %d: %x is not a part of the whole in its order", n, got)
			}
			if l := trace.Info().Files[0].Losses; len(got) < len(wholeSession) && !l.Truncated && n%0x200 != 0 && mode == 0 {
				t.Errorf("cut at %d: nothing said: %+v", n, l)
			}
			if _, err := trace.Operations(t.Context(), etl.JoinOptions{},
				func(*etl.Operation) error { return nil }); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestFlip flips the bits of a trace, one at a time: nothing panics, and time does not go backwards.
func TestFlip(t *testing.T) {
	for _, mode := range []uint32{0, compressed} {
		file := session(mode)
		for bit := range len(file) * 8 {
			if file[bit/8] == 0xFF && bit%64 != 0 || bit >= 0x100*8 && bit%3 != 0 {
				continue // what fills the tails of buffers; and of the events, a third will do
			}
			file[bit/8] ^= 1 << (bit % 8)
			if trace, err := etl.Open(t.Context(), sources(file), etl.Options{Workers: 1}); err == nil {
				checkOrder(t, trace)
				if bit%16 == 0 {
					_, err = trace.Operations(t.Context(), etl.JoinOptions{}, func(*etl.Operation) error { return nil })
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			file[bit/8] ^= 1 << (bit % 8)
		}
	}
}

// TestDamagedHeader checks that a buffer header that cannot be one costs its own buffer only.
func TestDamagedHeader(t *testing.T) {
	for _, mode := range []uint32{0, compressed} {
		file := session(mode)
		second := buffersOf(file)[2] // of CPU 1
		for name, size := range map[string]uint32{"zero": 0, "small": 0x10, "large": 0x7FFFFFFF,
			"slightly wrong": le.Uint32(file[second:]) + 8} {
			damaged := slices.Clone(file)
			le.PutUint32(damaged[second:], size)
			trace := open(t, damaged)
			got := addresses(t, trace)
			if !slices.Contains(got, 0xA0) || !slices.Contains(got, 0xA2) {
				t.Errorf("mode %#x, size %s: %x", mode, name, got)
			}
			if l := trace.Info().Files[0].Losses; l.SkippedBytes == 0 && l.BadBuffers == 0 && len(got) < len(wholeSession) {
				t.Errorf("mode %#x, size %s: nothing said: %+v", mode, name, l)
			}
		}
	}
}

// buffersOf is where the buffers of a sound file begin.
func buffersOf(file []byte) (at []int) {
	for n := 0; n < len(file); n += int(le.Uint32(file[n:])) {
		at = append(at, n)
	}
	return at
}

// TestPermuted checks that the order of buffers in a file does not matter.
func TestPermuted(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, path := range []string{"B/memory_keys_compressed.etl", "F/lost_events.etl", "F/cpus_64.etl"} {
		file := lab(t, path)
		want, _ := replay(t, file)
		at := buffersOf(file)[1:]
		for range 3 {
			random.Shuffle(len(at), func(i, j int) { at[i], at[j] = at[j], at[i] })
			permuted := slices.Clone(file[:le.Uint32(file)])
			for _, n := range at {
				permuted = append(permuted, file[n:n+int(le.Uint32(file[n:]))]...)
			}
			if got, _ := replay(t, permuted); got != want {
				t.Errorf("%s: %s", path, firstDifference(got, want))
			}
		}
	}
}

// TestFlipLab flips bits of real compressed buffers here and there.
func TestFlipLab(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, path := range []string{"F/no_rundown.etl", "F/circular_wrapped.etl", "B/memory_keys_compressed.etl"} {
		file := lab(t, path)
		for range 40 {
			damaged := slices.Clone(file)
			for range 1 + random.IntN(8) {
				damaged[random.IntN(len(damaged))] ^= 1 << random.IntN(8)
			}
			trace, err := etl.Open(t.Context(), sources(damaged), etl.Options{})
			if err != nil {
				continue
			}
			if _, err := trace.Operations(t.Context(), etl.JoinOptions{Also: everything()},
				func(*etl.Operation) error { return nil }); err != nil {
				t.Fatal(err)
			}
		}
	}
}
