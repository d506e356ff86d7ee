package debugdiag_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/debugdiag"
	"heapdrift/ingest/debugdiag/debugdiagtest"
	"heapdrift/ingest/evidence"
)

// wide is text as UTF-16 with a byte order mark.
func wide(text []byte) []byte {
	out := []byte{0xFF, 0xFE}
	for _, u := range utf16.Encode([]rune(string(text))) {
		out = append(out, byte(u), byte(u>>8))
	}
	return out
}

// savings are the ways in which a report may have been saved.
func savings(r *debugdiagtest.Report) map[string][]byte {
	page := r.HTML()
	tidied := bytes.ReplaceAll(bytes.ReplaceAll(page, []byte("<tr>"), []byte("<tbody><tr>")), []byte("</table>"),
		[]byte("</tbody></table>"))
	return map[string][]byte{
		"DebugDiag":          r.MIME(),
		"another boundary":   debugdiagtest.Wrap(page, "----MultipartBoundary--x7=y"),
		"LF":                 bytes.ReplaceAll(r.MIME(), []byte("\r\n"), []byte("\n")),
		"page":               page,
		"with a mark":        append([]byte("\xEF\xBB\xBF"), page...),
		"UTF-16":             wide(page),
		"tidied":             tidied,
		"a page's comment":   append([]byte("<!-- saved from url=(0042)file:///C:/Report.htm -->\r\n"), page...),
		"in a mail":          append([]byte("From: <Saved by Blink>\r\nSubject: x\r\nContent-Type: multipart/mixed; boundary=outer\r\n\r\n--outer\r\n"), append(r.MIME(), "\r\n--outer--\r\n"...)...),
		"one part":           append([]byte("MIME-Version: 1.0\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"), page...),
		"laid out in a cell": []byte("<table><tr><td>" + string(page) + "</td></tr></table></html>"),
	}
}

// TestSavings: a report says the same, however it was saved.
func TestSavings(t *testing.T) {
	r := everything(debugdiagtest.English)
	want := read(t, r.MIME())
	for name, saved := range savings(r) {
		c := read(t, saved)
		if !reflect.DeepEqual(c.Memory, want.Memory) || !reflect.DeepEqual(c.Sites, want.Sites) ||
			!reflect.DeepEqual(c.Warnings, want.Warnings) {
			t.Errorf("%s: %+v %+v", name, c.Memory, c.Warnings)
		}
		if !debugdiag.Sniff(saved[:min(len(saved), 64<<10)]) {
			t.Errorf("%s is not recognised", name)
		}
	}
	slow, err := debugdiag.Read(t.Context(), iotest.OneByteReader(bytes.NewReader(r.MIME())))
	if err != nil || !reflect.DeepEqual(slow[0].Memory, want.Memory) {
		t.Errorf("byte by byte: %v", err)
	}
}

// TestCut: a report that is cut anywhere says that it was cut, and neither its total nor the number of its claims
// exceeds that of the whole.
func TestCut(t *testing.T) {
	r := everything(debugdiagtest.English)
	whole := read(t, r.MIME())
	page := len(r.HTML()) - len("</body></html>")
	for name, report := range map[string][]byte{"page": r.HTML()[:page+7], "MIME": r.MIME()[:page]} {
		for n := 0; n < len(report); n += 1 + n/120 {
			captures, err := debugdiag.Read(t.Context(), bytes.NewReader(report[:n]))
			var coded *evidence.Error
			if err != nil && !errors.As(err, &coded) || err == nil && len(captures) == 0 {
				t.Fatalf("%s cut at %d: %d captures, %v", name, n, len(captures), err)
			}
			for _, c := range captures {
				if !strings.Contains(codes(c), string(capture.Truncated)) || len(c.Sites) > 0 != c.Snapshots[0].LowerBound {
					t.Fatalf("%s cut at %d: %s, %+v", name, n, codes(c), c.Snapshots)
				}
				if c.Total(0).Bytes > whole.Total(0).Bytes || len(c.Memory.Claims) > len(whole.Memory.Claims) {
					t.Fatalf("%s cut at %d: %+v", name, n, c.Total(0))
				}
			}
		}
	}
}

// failingReader fails behind some text.
type failingReader struct{ io.Reader }

func (f failingReader) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	if errors.Is(err, io.EOF) {
		err = io.ErrClosedPipe
	}
	return n, err
}

func TestErrors(t *testing.T) {
	report := everything(debugdiagtest.English).MIME()
	for name, c := range map[string]struct{ text, code string }{
		"empty":    {"", debugdiag.CodeNoData},
		"prose":    {"DebugDiag is a tool.", debugdiag.CodeNoData},
		"HTML":     {"<html><body><table><tr><td>a</td><td>b</td></tr></table></body></html>", debugdiag.CodeNoData},
		"no page":  {"MIME-Version: 1.0\r\nContent-Type: text/plain\r\n\r\nhello", debugdiag.CodeNoPage},
		"no parts": {"MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=x\r\n\r\nhello", debugdiag.CodeNoPage},
		"a header": {"MIME-Version: 1.0\r\nX: " + strings.Repeat("y", 1<<20), debugdiag.CodeNoPage},
	} {
		_, err := debugdiag.Read(t.Context(), strings.NewReader(c.text))
		var coded *evidence.Error
		if !errors.As(err, &coded) || coded.Code != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	captures, err := debugdiag.Read(t.Context(), failingReader{bytes.NewReader(report[:len(report)/2])})
	var coded *evidence.Error
	if !errors.As(err, &coded) || coded.Code != debugdiag.CodeReadFailed || !errors.Is(err, io.ErrClosedPipe) ||
		len(captures) != 1 {
		t.Errorf("%d captures, %v", len(captures), err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("enough")
	reader := io.MultiReader(bytes.NewReader(report[:len(report)/2]), iotest.ErrReader(nil),
		bytes.NewReader(report[len(report)/2:]))
	if _, err := debugdiag.Read(ctx, &cancellingReader{reader, func() { cancel(stop) }, 2}); !errors.Is(err, stop) {
		t.Errorf("stopped in the middle: %v", err)
	}
	if _, err := debugdiag.Read(ctx, bytes.NewReader(report)); !errors.Is(err, stop) {
		t.Errorf("stopped before: %v", err)
	}
}

// cancellingReader ends the context at the n-th read.
type cancellingReader struct {
	io.Reader
	cancel func()
	n      int
}

func (c *cancellingReader) Read(p []byte) (int, error) {
	if c.n--; c.n == 0 {
		c.cancel()
	}
	return c.Reader.Read(p[:min(len(p), 1000)])
}

// TestHostile: markup that is nested or long beyond reason is read, and warnings say what was too much.
func TestHostile(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	open := `<html><div data-debug-details="dump" data-debug-dump="a.dmp" id="B1C1"><h1>Report for a.dmp</h1>`
	for name, c := range map[string]struct{ markup, codes string }{
		"tables":        {strings.Repeat("<table><tr><td>", 20_000), "truncated malformed"},
		"divs":          {strings.Repeat("<div>", 50_000), "truncated"},
		"sections":      {strings.Repeat(`<div data-debug-details="custom" id=AllocSummaryB1>`, 10_000), "truncated"},
		"headings":      {strings.Repeat("<h4>Module details for x", 10_000), "truncated"},
		"a long cell":   {"<table><tr><td>" + strings.Repeat("x", 1<<20) + "</td></tr></table></html>", "malformed"},
		"a tag":         {"<" + strings.Repeat("x", 17<<20), "truncated"},
		"ends":          {strings.Repeat("</td></tr></table></div></h4>", 20_000) + "</html>", ""},
		"many cells":    {"<table>" + strings.Repeat("<td>x", 150_000) + "</table></html>", "malformed"},
		"other letters": {"<table><tr><td>Command Line</td><td>\xE4.exe</td></tr></table></html>", "encoding-guessed"},
	} {
		got := read(t, []byte(open+c.markup))
		if codes(got) != c.codes {
			t.Errorf("%s: %+v", name, got.Warnings)
		}
	}
}

func TestInconsistent(t *testing.T) {
	r := everything(debugdiagtest.English)
	r.Dumps[0].Modules[0].Lost = 3
	if c := read(t, r.MIME()); codes(c) != "inconsistent" ||
		!strings.Contains(c.Warnings[0].Message, "The functions of svc have 12345 allocations or handles, the module 12348") {
		t.Errorf("%+v", c.Warnings)
	}
	page := everything(debugdiagtest.English).HTML()
	for old, changed := range map[string]string{
		"12,345 allocations": "12,346 allocations", "1,500 handles": "1,501 handles",
		"<font color=SaddleBrown>12 MBytes</font></b></td>\r\n</tr>\r\n<tr>\r\n<td>Tracking": "<font color=SaddleBrown>13 MBytes</font></b></td>\r\n</tr>\r\n<tr>\r\n<td>Tracking",
		"12 MBytes": "12 PBytes",
	} {
		edited := bytes.ReplaceAll(page, []byte(old), []byte(changed))
		if c := read(t, edited); bytes.Equal(edited, page) || len(c.Warnings) == 0 || !c.Warnings[0].Code.Lossy() {
			t.Errorf("%q: %+v", old, c.Warnings)
		}
	}
	if c := read(t, bytes.ReplaceAll(page, []byte("12 MBytes"),
		[]byte("900 TBytes"))); !strings.Contains(fmt.Sprint(c.Warnings), "larger than the address space") {
		t.Errorf("%+v", c.Warnings)
	}
}
