package markup_test

import (
	"context"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"heapdrift/ingest/markup"
)

func Example() { // paths of Windows are not always well-formed text
	e := markup.NewElements(context.Background(), strings.NewReader(`<Region Details="C:\R&D\a.dll"/>`))
	token, err := e.Next()
	fmt.Println(token.(xml.StartElement).Attr[0].Value, e.Depth(), e.Line(), err)
	// Output: C:\R&D\a.dll 1 1 <nil>
}

// tokens reads all names of elements, and the error that ends them.
func tokens(ctx context.Context, r io.Reader) (names []string, err error) {
	e := markup.NewElements(ctx, r)
	for {
		token, err := e.Next()
		if err != nil {
			return names, err
		}
		if start, ok := token.(xml.StartElement); ok {
			names = append(names, start.Name.Local)
		}
	}
}

func wide(text string, order binary.AppendByteOrder) (b []byte) {
	for _, unit := range utf16.Encode([]rune(text)) {
		b = order.AppendUint16(b, unit)
	}
	return b
}

func TestEveryWayOfStoring(t *testing.T) {
	const text = `<a><b x="ä😀"/></a>`
	for name, data := range map[string]string{
		"UTF-8": text, "with a mark": "\xEF\xBB\xBF" + text, "code page": strings.Replace(text, "ä", "\xe4", 1),
		"UTF-16":                string(wide("\uFEFF"+text, binary.LittleEndian)),
		"the other way round":   string(wide("\uFEFF"+text, binary.BigEndian)),
		"UTF-16 without a mark": string(wide(text, binary.LittleEndian)),
	} {
		for _, r := range []io.Reader{strings.NewReader(data), iotest.OneByteReader(strings.NewReader(data))} {
			if names, err := tokens(t.Context(), r); fmt.Sprint(names) != "[a b]" || !errors.Is(err, io.EOF) {
				t.Errorf("%s: %v %v", name, names, err)
			}
		}
	}
}

func TestLimits(t *testing.T) {
	canceled, stop := context.WithCancel(t.Context())
	stop()
	for name, test := range map[string]struct {
		ctx      context.Context
		r        io.Reader
		isMarkup bool
	}{
		"deep":     {t.Context(), strings.NewReader(strings.Repeat("<a>", 1000)), true},
		"long":     {t.Context(), strings.NewReader("<a x=\"" + strings.Repeat("y", 4<<20)), true},
		"broken":   {t.Context(), strings.NewReader("<a <"), true},
		"a source": {t.Context(), iotest.ErrReader(io.ErrClosedPipe), false},
		"canceled": {canceled, strings.NewReader("<a/>"), false},
	} {
		if _, err := tokens(test.ctx, test.r); err == nil || errors.Is(err, io.EOF) || markup.IsMarkup(err) != test.isMarkup {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzElements(f *testing.F) {
	f.Add([]byte("<a><b x=\"1\">text</b></a>"))
	f.Add(wide("<a>&amp;</a>", binary.LittleEndian))
	f.Add([]byte("\xFF\xFE<\x00\x00\xD8"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := tokens(t.Context(), strings.NewReader(string(data))); err == nil {
			t.Fatal("no end")
		}
	})
}
