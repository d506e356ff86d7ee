package heapprofile_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/iotest"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/evidence"
	"heapdrift/ingest/heapprofile"
	"heapdrift/ingest/heapprofile/heapprofiletest"
	"heapdrift/internal/golden"
)

// nine is a time after nine o'clock, as profile.proto has it.
const nine = 1_767_344_645_000_000_000

// inputs are a profile of each layout.
func inputs() map[string][]byte {
	linux, windows := heapprofiletest.Server(3, 0), heapprofiletest.WindowsServer(3, 0)
	sampled := heapprofiletest.WindowsServer(3, 0)
	sampled.Rate = 128 << 10
	mingw := heapprofiletest.Server(3, 0)
	mingw.Windows = true
	return map[string][]byte{
		"jemalloc":          []byte(linux.Jemalloc()),
		"jemalloc-windows":  []byte(mingw.Jemalloc()),
		"jemalloc-symbols":  []byte(linux.Symbolized(linux.Jemalloc())),
		"gperftools":        []byte(windows.Gperftools()),
		"gperftools-heapv2": []byte(sampled.Gperftools()),
		"tcmalloc-proto":    linux.Proto(heapprofiletest.Tcmalloc, nine, false),
		"go-proto":          linux.Proto(heapprofiletest.Go, nine, true),
		"mimalloc-proto":    sampled.Proto(heapprofiletest.Mimalloc, 12_345_000, false),
	}
}

func TestGolden(t *testing.T) { // go test ./ingest/heapprofile -update rewrites
	for name, profile := range inputs() {
		if !heapprofile.Sniff(profile[:min(len(profile), 64<<10)]) {
			t.Errorf("%s is not recognised", name)
		}
		got := render(heapprofile.Read(t.Context(), bytes.NewReader(profile), "jeprof.77.3.m1.heap"))
		golden.Check(t, "testdata/"+name+".golden", got)
		if slow := render(heapprofile.Read(t.Context(), iotest.OneByteReader(bytes.NewReader(profile)), "jeprof.77.3.m1.heap")); slow != got {
			t.Errorf("%s is another profile in small pieces:\n%s", name, slow)
		}
	}
}

// The estimate is that of jeprof and pprof: 28 recorded blocks of 48.857 bytes each at one in 512 KB stand for 28/(1−e^(−48.857/524288)).
func TestEstimate(t *testing.T) {
	seen := 1 - math.Exp(-1368.0/28/524288)
	for header, want := range map[string]capture.Usage{
		"heap_v2/524288": {Count: int64(math.Round(28 / seen)), Bytes: int64(math.Round(1368 / seen))}, // 300,481 and 14,680,632
		"heap_v2/1":      {Count: 28, Bytes: 1368},
		"heap_v2/2":      {Count: 28, Bytes: 1368}, // e^-24 is nothing
		"heapprofile":    {Count: 28, Bytes: 1368},
		"heap/1048576":   {Count: int64(math.Round(28 / seen)), Bytes: int64(math.Round(1368 / seen))},
	} {
		text := "heap profile: 28: 1368 [91: 4444] @ " + header + "\n  28: 1368 [91: 4444] @ 0x401000 0x402000\n"
		captures, err := heapprofile.Read(t.Context(), strings.NewReader(text), "a.heap")
		if err != nil || len(captures) != 1 || len(captures[0].Sites) != 1 {
			t.Fatalf("%s: %v, %d captures", header, err, len(captures))
		}
		c := captures[0]
		if got := c.Sites[0].Usage[0]; got != want {
			t.Errorf("%s: %+v, want %+v", header, got, want)
		}
		if got := want.Recorded(c.Sampling); got != 28 {
			t.Errorf("%s: %d recorded", header, got)
		}
	}
}

// The sample of the package comment is read as it stands.
func TestComment(t *testing.T) {
	samples := golden.Samples(t, "heapprofile.go", "package")
	for i, want := range []string{"jemalloc-heap 28", "gperftools-heap 28"} {
		captures, err := heapprofile.Read(t.Context(), strings.NewReader(samples[i]), "a.heap")
		if err != nil {
			t.Fatal(err)
		}
		c := captures[0]
		if got := fmt.Sprint(c.Kind, " ", c.Sites[0].Usage[0].Recorded(c.Sampling)); got != want || len(c.Stacks.Stack(c.Sites[0].Stack)) != 2 {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// The name of the file tells the process, and whether it wrote the profile at its exit.
func TestName(t *testing.T) {
	const text = "heap_v2/524288\n  t*: 1: 64 [0: 0]\n@ 0x401000\n  t*: 1: 64 [0: 0]\n"
	for name, want := range map[string]string{
		"jeprof.4242.0.i0.heap":               "4242 snapshot 0",
		"all.zip/run/jeprof.4242.10.m3.heap":  "4242 snapshot 0",
		"jeprof.4242.7.u2.heap.gz":            "4242 snapshot 0",
		"jeprof.4242.7.f.heap":                "4242 exit 0",
		"prefix.1.4242.7.f.heap.zst":          "4242 exit 0",
		"server.4242._main_-end.heap":         "4242 exit 1",
		"server.0001.heap":                    "0 snapshot 0",
		"jeprof.4242.7.f1.heap":               "0 snapshot 0",
		"jeprof.4242.7.f.txt":                 "0 snapshot 0",
		"jeprof.99999999999.7.f.heap":         "0 snapshot 0",
		"jeprof.9999999999.7.f.heap":          "0 exit 0",
		"server.4242._main_-end.heap.of.mine": "0 snapshot 0",
	} {
		captures, err := heapprofile.Read(t.Context(), strings.NewReader(text), name)
		if err != nil {
			t.Fatal(err)
		}
		c := captures[0]
		shape := map[capture.Shape]string{capture.ShapeSnapshot: "snapshot", capture.ShapeExit: "exit"}[c.Shape]
		if got := fmt.Sprint(c.Process.PID, " ", shape, " ", c.Sites[0].Reach); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// Damage is said, and the rest is read.
func TestDamage(t *testing.T) {
	const tail = "\nMAPPED_LIBRARIES:\n00400000-00500000 r-xp 00000000 08:01 7 /srv/app\n"
	for name, test := range map[string]struct {
		text, warnings string
		blocks         int64
	}{
		"whole":                  {"heap profile: 2: 32 [2: 32] @ heapprofile\n 2: 32 [2: 32] @ 0x401000\n" + tail, "", 2},
		"an entry of nothing":    {"heap profile: 0: 0 [2: 32] @ heapprofile\n 0: 0 [2: 32] @ 0x401000\n" + tail, "", 0},
		"a line of noise":        {"heap profile: 2: 32 [2: 32] @ heapprofile\nnoise\n 2: 32 [2: 32] @ 0x401000\n" + tail, "malformed 1", 2},
		"no address":             {"heap profile: 2: 32 [2: 32] @ heapprofile\n 2: 32 [2: 32] @ 0x40100g\n" + tail, "malformed 1 truncated 2", 0},
		"a difference":           {"heap profile: 2: 32 [2: 32] @ heapprofile\n 2: 32 [2: 32] @ 0x401000\n -1: -16 [0: 0] @ 0x402000\n" + tail, "inconsistent 1", 2},
		"the header counts more": {"heap profile: 200: 32 [2: 32] @ heapprofile\n 197: 32 [2: 32] @ 0x401000\n" + tail, "truncated 3", 197},
		"one in a hundred less":  {"heap profile: 200: 32 [2: 32] @ heapprofile\n 198: 32 [2: 32] @ 0x401000\n" + tail, "", 198},
		"no modules":             {"heap profile: 2: 32 [2: 32] @ heapprofile\n 2: 32 [2: 32] @ 0x401000\n", "no-image-info 1", 2},
		"other modules": {"heap profile: 2: 32 [2: 32] @ heapprofile\n 2: 32 [2: 32] @ 0x401000\nMAPPED_LIBRARIES:\n" +
			"0x400000 0x452000 66 0 0xfffff8 r-x 1 0 0x1000 COW NC vnode /bin/cat NCH -1\n", "no-image-info 1", 2},
		"no rate":               {"heap profile: 2: 32 [2: 32] @ heap_v2\n 2: 32 [2: 32] @ 0x401000\n" + tail, "inconsistent 1", 2},
		"numbers of no stack":   {"heap_v2/1\n  t*: 2: 32 [0: 0]\n  t*: 2: 32 [0: 0]\n@ 0x401000\n  t*: 2: 32 [0: 0]\n" + tail, "malformed 1", 2},
		"a stack of no numbers": {"heap_v2/1\n  t*: 2: 32 [0: 0]\n@ 0x401000\n", "truncated 2 no-image-info 1", 0},
		"huge numbers": {"heap profile: 2: 32 [2: 32] @ heapprofile\n 999999999999999999: 999999999999999999 [1: 1] @ 0x401000\n" +
			" 999999999999999999: 999999999999999999 [1: 1] @ 0x401000\n" + tail, "", 1 << 40},
		"a long line": {"heap profile: 2: 32 [2: 32] @ heapprofile\n 2: 32 [2: 32] @" + strings.Repeat(" 0x401000", 40_000) + "\n 1: 16 [1: 16] @ 0x402000\n" +
			tail, "malformed 1 truncated 1", 1},
	} {
		captures, err := heapprofile.Read(t.Context(), strings.NewReader(test.text), "a.heap")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var codes []string
		for _, w := range captures[0].Warnings {
			codes = append(codes, fmt.Sprint(w.Code, " ", w.Count))
		}
		blocks := captures[0].Total(0).Count
		if name == "a stack of no numbers" {
			codes = append(codes, "no-image-info 1") // without sites nothing needs modules
		}
		if got := strings.Join(codes, " "); got != test.warnings || blocks != test.blocks {
			t.Errorf("%s: %d blocks, %q; want %d, %q", name, blocks, got, test.blocks, test.warnings)
		}
	}
}

// What is no profile of live blocks is refused, with what to do.
func TestRefused(t *testing.T) {
	cpu := []byte{0x0a, 4, 8, 1, 16, 2, 0x32, 0, 0x32, 3, 'c', 'p', 'u', 0x32, 2, 'n', 's'}
	for code, texts := range map[string][]string{
		heapprofile.CodeNoData:  {"", "\n\n", "heap_v2/\n", "heap_v2/5x\n", "heap profile: 1: 2\n", "--- symbol\n0x1 main\n", "heap_v2/524288"},
		heapprofile.CodeNotLive: {"heap profile: 1: 2 [3: 4] @ growthz\n", string(cpu)},
	} {
		for _, text := range texts {
			captures, err := heapprofile.Read(t.Context(), strings.NewReader(text), "a.heap")
			if r := evidence.Refusal(err); r == nil || r.Code != code || r.Do == "" || len(captures) > 0 {
				t.Errorf("%q: %v, %d captures", text, err, len(captures))
			}
		}
	}
	if heapprofile.Sniff([]byte("heap_v2")) || heapprofile.Sniff([]byte("heap profile of mine")) || heapprofile.Sniff(nil) || !heapprofile.Sniff(cpu) {
		t.Error("what is no header is taken for one, or a profile is not recognised")
	}
}

// A profile that is cut anywhere gives what comes before the cut, and says so.
func TestCut(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	for name, profile := range inputs() {
		whole, err := heapprofile.Read(t.Context(), bytes.NewReader(profile), "a.heap")
		if err != nil {
			t.Fatal(err)
		}
		most, before := whole[0].Total(0), int64(0)
		binary := strings.HasSuffix(name, "-proto")
		for n := range profile {
			captures, err := heapprofile.Read(t.Context(), bytes.NewReader(profile[:n]), "a.heap")
			if err != nil && (len(captures) > 0 || evidence.Refusal(err) == nil) {
				t.Fatalf("%s at %d: %d captures, %v", name, n, len(captures), err)
			}
			if err != nil {
				continue
			}
			valid(t, captures[0])
			sum := captures[0].Total(0)
			if sum.Count > most.Count || sum.Bytes > most.Bytes || sum.Count < before {
				t.Fatalf("%s at %d: %+v of %+v after %d blocks", name, n, sum, most, before)
			}
			if sum != most && !captures[0].Snapshots[0].LowerBound && !binary {
				t.Fatalf("%s at %d: %+v of %+v is called whole", name, n, sum, most)
			}
			before = sum.Count
		}
	}
}

// valid fails for captures that cannot be stored and read again.
func valid(t *testing.T, c *capture.Capture) {
	t.Helper()
	var artifact bytes.Buffer
	if err := c.Write(&artifact); err != nil {
		t.Fatal(err)
	}
	again, err := capture.Read(&artifact)
	if err != nil {
		t.Fatalf("%v\n%s", err, render([]*capture.Capture{c}, nil))
	}
	if got, want := render([]*capture.Capture{again}, nil), render([]*capture.Capture{c}, nil); got != want {
		t.Errorf("an artifact changes the capture to\n%s\nfrom\n%s", got, want)
	}
	for i := range c.Sites {
		if u := c.Sites[i].Usage[0]; u.Count < 0 || u.Bytes < 0 {
			t.Errorf("site %d has %+v", i, u)
		}
	}
}

func FuzzRead(f *testing.F) { // its corpus: a file below testdata/fuzz/FuzzRead for each input that matters
	for _, profile := range inputs() {
		f.Add(profile)
	}
	f.Fuzz(func(t *testing.T, profile []byte) {
		known := heapprofile.Sniff(profile)
		captures, err := heapprofile.Read(t.Context(), bytes.NewReader(profile), "jeprof.1.2.f.heap")
		if err == nil && (len(captures) == 0 || !known) {
			t.Errorf("recognised %t, %d captures, and nothing said", known, len(captures))
		}
		for _, c := range captures {
			valid(t, c)
		}
	})
}

// A failing source and an end of the context are told apart from damage; what was read is returned.
func TestFailures(t *testing.T) {
	text := inputs()["jemalloc"]
	broken := errors.New("the disk is gone")
	long := append(bytes.Repeat([]byte("#\n"), 50_000), text...)
	long = append([]byte("heap_v2/524288\n"), long[:120_000]...)
	captures, err := heapprofile.Read(t.Context(), &failing{long, broken}, "a.heap")
	if !errors.Is(err, broken) || evidence.IsRefusal(err) || len(captures) != 1 {
		t.Errorf("%v, %d captures", err, len(captures))
	}
	if captures, err := heapprofile.Read(t.Context(), &failing{text[:40], broken}, "a.heap"); !errors.Is(err, broken) || len(captures) > 0 {
		t.Errorf("%v, %d captures", err, len(captures))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, profile := range inputs() {
		if _, err := heapprofile.Read(ctx, bytes.NewReader(profile), "a.heap"); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// failing gives its bytes and then an error.
type failing struct {
	rest []byte
	err  error
}

func (f *failing) Read(p []byte) (int, error) {
	if len(f.rest) == 0 {
		return 0, f.err
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}
