package etl_test

import (
	"context"
	"hash/maphash"
	"math"
	"slices"
	"testing"

	"heapdrift/ingest/etl"
	"heapdrift/ingest/etl/etltest"
)

// A mark identifies an event of a trace.
type mark struct {
	stamp   int64
	cpu     uint16
	header  etl.HeaderType
	payload uint64
}

// A reading is everything that a pass over a trace gives.
type reading struct {
	marks  []mark
	ops    []etl.Operation
	joined *etl.JoinResult
	losses etl.Losses
}

var seed = maphash.MakeSeed()

// read reads everything there is in a file, or nothing where it cannot be opened.
func read(t *testing.T, file []byte) (r reading) {
	t.Helper()
	ctx := context.Background()
	trace, err := etl.Open(ctx, sources(file), etl.Options{Workers: 1})
	if err != nil {
		return r
	}
	if err := trace.Events(ctx, func(e *etl.Event) error {
		r.marks = append(r.marks, mark{e.Stamp, e.CPU, e.Header, maphash.Bytes(seed, e.Payload)})
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	r.joined, err = trace.Operations(ctx, etl.JoinOptions{}, func(o *etl.Operation) error {
		r.ops = append(r.ops, *o)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	r.losses = trace.Info().Files[0].Losses
	return r
}

// TestCutIsPrefix checks what a cut file gives. Let T be the time of the first event that is missing.
//
//   - Its events are some of the whole file's, in the same order; those before T are all there.
//   - Its operations before T are those of the whole file. An operation's stack may be missing or lack a part, because
//     that came behind T, and is the same otherwise. The thread of one without a stack may be missing, too.
//   - That something is missing is said.
func TestCutIsPrefix(t *testing.T) {
	s, step := etltest.Invent(7, etltest.ScenarioSize{Steps: 25, Stacks: 4}), 211
	if underRace {
		step = 997
	}
	for name, f := range map[string]etltest.Format{
		"plain": {BufferSize: 0x1000}, "compressed": {BufferSize: 0x1000, Compressed: true},
		"keys": {BufferSize: 0x1000, Keys: 3},
	} {
		t.Run(name, func(t *testing.T) {
			file := s.File(f)
			whole := read(t, file)
			for n := 0; n < len(file); n += step {
				cut := read(t, file[:n])
				missing := firstMissing(t, n, whole.marks, cut.marks)
				before := func(list []etl.Operation) []etl.Operation {
					i := slices.IndexFunc(list, func(o etl.Operation) bool { return o.Stamp >= missing })
					if i < 0 {
						return list
					}
					return list[:i]
				}
				want, got := before(whole.ops), before(cut.ops)
				if len(got) != len(want) {
					t.Fatalf("cut at %d: %d operations before %d, want %d", n, len(got), missing, len(want))
				}
				for i := range got {
					samePart(t, n, &whole, &cut, want[i], got[i])
				}
				if l := cut.losses; len(cut.marks) > 0 && missing != math.MaxInt64 && !l.Any() && n%0x1000 != 0 {
					t.Errorf("cut at %d: nothing said", n)
				}
			}
		})
	}
}

// firstMissing returns the time of the first event that is missing, and checks that the others are in order.
func firstMissing(t *testing.T, n int, whole, cut []mark) int64 {
	t.Helper()
	missing := int64(math.MaxInt64)
	for _, m := range whole {
		if len(cut) > 0 && cut[0] == m {
			cut = cut[1:]
		} else {
			missing = min(missing, m.stamp)
		}
	}
	if len(cut) > 0 {
		t.Fatalf("cut at %d: %d events that are not in the whole file, or in another order", n, len(cut))
	}
	return missing
}

// samePart compares an operation of a cut file with that of the whole.
func samePart(t *testing.T, n int, whole, cut *reading, want, got etl.Operation) {
	t.Helper()
	full := whole.joined.Stacks.Append(nil, want.Stack)
	part := cut.joined.Stacks.Append(nil, got.Stack)
	if len(part) > 0 && !slices.Equal(full, part) &&
		(len(part) >= len(full) || !slices.Equal(full[:len(part)], part) && !slices.Equal(full[len(full)-len(part):], part)) {
		t.Fatalf("cut at %d: stack %x of %x", n, part, full)
	}
	if a, b := whole.joined.Processes[want.ProcessIndex].PID, cut.joined.Processes[got.ProcessIndex].PID; a != b {
		t.Fatalf("cut at %d: process %d, want %d", n, b, a)
	}
	if len(part) == 0 && got.TID == etl.NoID { // only its stack names the thread
		want.TID = etl.NoID
	}
	want.Stack, want.ProcessIndex, got.Stack, got.ProcessIndex = 0, 0, 0, 0
	if want != got {
		t.Fatalf("cut at %d: %+v, want %+v", n, got, want)
	}
}

// TestBufferOrder checks that the order of buffers in a generated file does not matter.
func TestBufferOrder(t *testing.T) {
	for _, name := range []string{"plain", "few keys, compressed", "Windows 7, 32 bits", "shared buffers"} {
		t.Run(name, func(t *testing.T) {
			f := formats[name]
			f.BufferSize = 0x2000
			s := etltest.Invent(8, etltest.ScenarioSize{Steps: 100, Bits: f.Bits})
			got, joined, trace := readLines(t, etltest.Permuted(s.File(f), 1))
			check(t, s, f, got, joined, trace)
		})
	}
}

// TestFlipGenerated flips bits of generated files: nothing panics, and time does not go backwards.
func TestFlipGenerated(t *testing.T) {
	s, seeds := etltest.Invent(9, etltest.ScenarioSize{Steps: 40}), uint64(25)
	if underRace {
		seeds = 5
	}
	for _, f := range []etltest.Format{{}, {Compressed: true, Keys: 3}, {Build: 7601, Bits: 32},
		{OneStream: true, Disorder: 5}} {
		f.BufferSize = 0x2000
		file := s.File(f)
		for seed := range seeds {
			if r := read(t, etltest.Flipped(file, seed, 1+int(seed))); !slices.IsSortedFunc(r.ops,
				func(a, b etl.Operation) int { return int(min(1, max(-1, a.Time-b.Time))) }) {
				t.Errorf("seed %d: operations out of order", seed)
			}
		}
	}
}
