package analysis

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strconv"

	"heapdrift/ingest/crew"
)

// WriteJSON writes a report as one JSON document in the layout of Schema, row by row, so that memory does not grow with
// it.
func (r *Report) WriteJSON(w io.Writer) error {
	head := *r
	head.Schema = Schema
	head.Findings, head.Sites = nil, nil
	text, err := json.Marshal(&head)
	if err != nil {
		return fmt.Errorf("analysis: write report: %w", err)
	}
	const end = `"findings":null,"sites":null}` // the last fields
	out := rowWriter{w: bufio.NewWriterSize(w, 64<<10), parts: make([]rowPart, runtime.GOMAXPROCS(0)),
		written: make([]rowPart, runtime.GOMAXPROCS(0))}
	out.text(string(bytes.TrimSuffix(text, []byte(end))))
	out.list("findings", len(r.Findings), func(b []byte, i int, s *scratch) ([]byte, error) {
		f := r.Findings[i]
		f.describe(s)
		return appendJSON(b, &f)
	})
	out.text(",")
	quoted := r.Stacks.quoted()
	out.list("frames", r.Stacks.FrameCount(),
		func(b []byte, i int, _ *scratch) ([]byte, error) { return r.Stacks.appendFrame(b, i, quoted), nil })
	out.text(",")
	out.list("stacks", r.Stacks.Count(), func(b []byte, i int, _ *scratch) ([]byte, error) {
		return appendNumbers(b, r.Stacks.FrameNumbers(StackRef(i+1))), nil
	})
	out.text(",")
	out.list("sites", len(r.Sites), func(b []byte, i int, _ *scratch) ([]byte, error) {
		site := r.Sites[i]
		if r.lazy != nil {
			r.lazy.write(i, &site)
		}
		return appendSite(b, &site)
	})
	out.text("}\n")
	if err := out.flush(); err != nil {
		return fmt.Errorf("analysis: write report: %w", err)
	}
	return nil
}

// A rowWriter writes lists whose rows are made on all cores, while the rows before them are written.
type rowWriter struct {
	w       *bufio.Writer
	parts   []rowPart // that are made
	written []rowPart // made before, which are written beside that
	err     error
}

// A rowPart is what one core makes of a list.
type rowPart struct {
	text    []byte
	err     error
	scratch scratch
}

// A rowEncoder appends a row of a list to b.
type rowEncoder func(b []byte, i int, s *scratch) ([]byte, error)

// rowsAtOnce is how many rows a core makes before they are written.
const rowsAtOnce = 512

func (w *rowWriter) text(s string) { _, _ = w.w.WriteString(s) } // bufio keeps the error for flush

// list writes a field that is a list of n rows.
func (w *rowWriter) list(name string, n int, add rowEncoder) {
	w.text(strconv.Quote(name) + ":[")
	round := len(w.parts) * rowsAtOnce
	for from := 0; from < n && w.err == nil; from += round {
		var all crew.Crew
		for p := range w.parts {
			first := min(n, from+p*rowsAtOnce)
			all.Go(func() { w.parts[p].make(first, min(n, first+rowsAtOnce), add) })
		}
		w.write()
		all.Wait()
		w.parts, w.written = w.written, w.parts
	}
	w.write()
	w.text("]")
}

// write writes what was made before.
func (w *rowWriter) write() {
	for p := range w.written {
		_, err := w.w.Write(w.written[p].text)
		w.err = cmp.Or(w.err, w.written[p].err, err)
		w.written[p].text = w.written[p].text[:0]
	}
}

func (p *rowPart) make(from, to int, add rowEncoder) {
	p.text = p.text[:0]
	for i := from; i < to && p.err == nil; i++ {
		if i > 0 {
			p.text = append(p.text, ",\n"...)
		}
		p.text, p.err = add(p.text, i, &p.scratch)
	}
}

func (w *rowWriter) flush() error {
	if err := w.w.Flush(); w.err == nil {
		w.err = err
	}
	return w.err
}

func appendJSON(b []byte, v any) ([]byte, error) {
	text, err := json.Marshal(v)
	return append(b, text...), err
}

func appendNumbers(b []byte, list []uint32) []byte {
	b = append(b, '[')
	for i, n := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendUint(b, uint64(n), 10)
	}
	return append(b, ']')
}

// quotedTexts are the texts of stacks as JSON has them.
type quotedTexts struct {
	texts []string
	marks []string // the fields of each mark
}

func (s *Stacks) quoted() *quotedTexts {
	q := &quotedTexts{}
	if s == nil {
		return q
	}
	for _, t := range s.texts {
		q.texts = append(q.texts, quote(t))
	}
	for _, m := range s.marks {
		fields := ""
		if m.Layer != "" {
			fields = `,"layer":` + quote(string(m.Layer))
		}
		if m.Rule != "" {
			fields += `,"rule":` + quote(m.Rule)
		}
		q.marks = append(q.marks, fields)
	}
	return q
}

func quote(s string) string {
	text, _ := json.Marshal(s) // of a string there is no error
	return string(text)
}

// appendFrame appends a frame as encoding/json writes a Frame.
func (s *Stacks) appendFrame(b []byte, number int, q *quotedTexts) []byte {
	r := &s.rows[number]
	b = append(append(b, `{"module":`...), q.texts[r.module]...)
	b = append(append(b, `,"function":`...), q.texts[r.function]...)
	b = appendHex(append(b, `,"offset":"`...), r.offset, r.flags&rowHasOffset != 0)
	b = appendHex(append(b, `","address":"`...), r.address, r.flags&rowHasAddress != 0)
	b = append(append(b, `","file":`...), q.texts[r.file]...)
	b = strconv.AppendUint(append(b, `,"line":`...), uint64(r.line), 10)
	b = strconv.AppendBool(append(b, `,"inline":`...), r.flags&rowInline != 0)
	b = append(b, q.marks[r.mark]...)
	if r.kind != 0 {
		b = append(append(b, `,"type":`...), q.texts[r.kind]...)
	}
	if r.flags&rowApprox != 0 {
		b = append(b, `,"approx":true`...)
	}
	return append(b, '}')
}

func appendHex(b []byte, v uint64, has bool) []byte {
	if !has {
		return b
	}
	return strconv.AppendUint(append(b, "0x"...), v, 16)
}
