package umdh_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"heapdrift/ingest/umdh"
)

// However lines end, the capture is the same, to the line numbers in its warnings.
func TestLineEnds(t *testing.T) {
	for name, log := range fixtures(t) {
		lf := strings.ReplaceAll(log, "\r\n", "\n")
		want := render(read(t, []byte(lf), umdh.BaseAuto)[0])
		for _, end := range []string{"\r\n", "\r", "\r\r\n"} {
			if got := render(read(t, []byte(strings.ReplaceAll(lf, "\n", end)), umdh.BaseAuto)[0]); got != want {
				t.Errorf("%s with %q differs:\n%s\nwant\n%s", name, end, got, want)
			}
		}
	}
}

func TestLongLines(t *testing.T) {
	const start, end = "*- - - - - - - - - - Start of data for heap @ 10000 - - - - - - - - - -\n",
		"*- - - - - - - - - - End of data for heap @ 10000 - - - - - - - - - -\n"
	entry := "1 bytes + 2 at 10010 by BackTraceA\n"
	for name, test := range map[string]struct{ log, want string }{
		"of words": {start + entry + strings.Repeat("x", 300<<10) + "\n" + entry + end,
			"stack-missing malformed"},
		"as long as may be": {start + entry + strings.Repeat(" ", 64<<10-len(entry)) + entry + entry + end,
			"stack-missing"},
		"longer by one": {start + entry + strings.Repeat(" ", 64<<10-len(entry)+2) + entry + entry + end,
			"stack-missing malformed"},
		"of padding": {start + entry + entry + end + strings.Repeat("\x00", 1<<20), "stack-missing"},
		"of padding, with words far away": {start + entry + entry + end + strings.Repeat("\x00", 1<<20) + "x",
			"stack-missing malformed"},
	} {
		c := read(t, []byte(test.log), umdh.BaseAuto)[0]
		if got := codes(c); got != test.want || c.Total(0).Count < 2 {
			t.Errorf("a line %s: %s, want %s; %+v", name, got, test.want, c.Total(0))
		}
	}
}

func TestReaderFails(t *testing.T) {
	log := fixtures(t)["snapshot64"]
	reason := errors.New("the disk is gone")
	captures, err := umdh.Read(context.Background(),
		io.MultiReader(strings.NewReader(log[:len(log)/2]), iotest.ErrReader(reason)), umdh.Options{})
	if code(err) != umdh.CodeReadFailed || !errors.Is(err, reason) || !strings.Contains(err.Error(), "offset 0x") {
		t.Errorf("got %v", err)
	}
	if len(captures) != 1 || !captures[0].Snapshots[0].LowerBound || !strings.HasPrefix(codes(captures[0]), "truncated") ||
		captures[0].Blocks.Len() == 0 {
		t.Errorf("nothing was saved: %d captures", len(captures))
	}
	if _, err := umdh.Read(context.Background(), &stuckReader{}, umdh.Options{}); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("a reader that gives nothing: %v", err)
	}
	if got, err := umdh.Read(context.Background(), iotest.DataErrReader(bytes.NewReader([]byte(log))),
		umdh.Options{}); err != nil || render(got[0]) != render(read(t, []byte(log), umdh.BaseAuto)[0]) {
		t.Errorf("the last bytes came with io.EOF: %v", err)
	}
}

type stuckReader struct{}

func (*stuckReader) Read([]byte) (int, error) { return 0, nil }
