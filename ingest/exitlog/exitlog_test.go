package exitlog_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/evidence"
	"heapdrift/ingest/exitlog"
	"heapdrift/internal/golden"
)

func TestGolden(t *testing.T) { // go test ./ingest/exitlog -update rewrites
	for name, log := range golden.Inputs(t, "testdata/*.log") {
		if !exitlog.Sniff(log) {
			t.Errorf("%s is not recognised", name)
		}
		if err := exitlog.Check(t.Context(), bytes.NewReader(log), int64(len(log))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		captures, err := exitlog.Read(t.Context(), bytes.NewReader(log))
		golden.Check(t, strings.TrimSuffix(name, ".log")+".golden", render(captures, err))
		slow, err := exitlog.Read(t.Context(), iotest.HalfReader(bytes.NewReader(log)))
		if got := render(slow, err); got != render(captures, err) {
			t.Errorf("%s is another log in small pieces:\n%s", name, got)
		}
	}
}

// A log that is cut anywhere gives what comes before the cut, and no more than the whole log.
func TestCut(t *testing.T) {
	for name, log := range golden.Inputs(t, "testdata/*.log") {
		if strings.Contains(name, "utf16") {
			continue
		}
		whole, err := exitlog.Read(t.Context(), bytes.NewReader(log))
		if err != nil {
			t.Fatal(err)
		}
		var most capture.Usage
		for _, c := range whole {
			most = most.Add(c.Total(0))
		}
		var before int64
		step := 1
		const long = 1000 // bytes; a shorter log is cut behind each of its bytes
		if len(log) > long {
			step = 7
		}
		for n := 0; n < len(log); n += step {
			captures, err := exitlog.Read(t.Context(), bytes.NewReader(log[:n]))
			var sum capture.Usage
			for _, c := range captures {
				valid(t, c)
				sum = sum.Add(c.Total(0))
			}
			if (err == nil) != (len(captures) > 0) || err != nil && evidence.Refusal(err).Code != evidence.CodeUnknownFormat {
				t.Fatalf("%s at %d: %d captures, %v", name, n, len(captures), err)
			}
			// A number that is cut is less than the whole, and what a line says of many blocks comes after the line of
			// one.
			if sum.Count > most.Count || sum.Bytes > most.Bytes || sum.Count+1 < before {
				t.Fatalf("%s at %d: %+v of %+v", name, n, sum, most)
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
	if again.Printed != c.Printed {
		t.Errorf("an artifact has %d lists of %d", again.Printed, c.Printed)
	}
	for i := range c.Sites {
		if u := c.Sites[i].Usage[0]; u.Count < 0 || u.Bytes < 0 {
			t.Errorf("site %d has %+v", i, u)
		}
	}
}

func FuzzRead(f *testing.F) { // its corpus: a file below testdata/fuzz/FuzzRead for each input that matters
	for _, log := range golden.Inputs(f, "testdata/*.log") {
		f.Add(log)
	}
	f.Fuzz(func(t *testing.T, log []byte) {
		exitlog.Sniff(log)
		captures, err := exitlog.Read(t.Context(), bytes.NewReader(log))
		if err == nil && len(captures) == 0 {
			t.Error("nothing read and nothing said")
		}
		if (exitlog.Check(t.Context(), bytes.NewReader(log), int64(len(log))) != nil) && err == nil {
			t.Error("refused at the door, and read")
		}
		for _, c := range captures {
			valid(t, c)
		}
	})
}

// Texts without a list are refused, as soon as their end shows it.
func TestNoList(t *testing.T) {
	short := []byte("all is well\n")
	long := bytes.Repeat([]byte("[ RUN      ] Cache.Evicts\n"), 10_000)
	if exitlog.Sniff(short) || !exitlog.Sniff(long[:64<<10]) || exitlog.Sniff(bytes.Repeat([]byte{0, 1, 2, 'a'}, 32<<10)) {
		t.Error("a text that is longer than its head may be a log, and nothing else without a list")
	}
	for _, log := range [][]byte{short, long, nil} {
		_, err := exitlog.Read(t.Context(), bytes.NewReader(log))
		checked := exitlog.Check(t.Context(), bytes.NewReader(log), int64(len(log)))
		for _, err := range []error{err, checked} {
			if r := evidence.Refusal(err); r == nil || r.Code != evidence.CodeUnknownFormat || r.Do == "" {
				t.Errorf("%v", err)
			}
		}
	}
}

// A failing source and an end of the context are told apart from damage; what was read is returned.
func TestFailures(t *testing.T) {
	log, err := os.ReadFile("testdata/vld.log")
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("the disk is gone")
	captures, err := exitlog.Read(t.Context(), iotest.DataErrReader(&failing{log[:600], broken}))
	if !errors.Is(err, broken) || evidence.IsRefusal(err) || len(captures) != 1 || captures[0].Total(0).Count != 3 {
		t.Errorf("%v, %d captures", err, len(captures))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := exitlog.Read(ctx, bytes.NewReader(log)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
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
