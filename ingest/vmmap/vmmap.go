// Package vmmap reads the files that Sysinternals VMMap saves (.mmp): XML with the regions of one process, once for
// each snapshot. Each snapshot becomes a Capture, damage a warning of it, and a file without regions an
// *evidence.Error. There is no specification; the attributes are those that PerfView reads.
//
//	<Snapshot>
//	  <Region Address="65536" Size="1048576" Commit="69632" PrivateBytes="69632" PrivateWS="65536" ShareableWS="0" SharedWS="0"
//	          Blocks="2" Id="1" Protection="4" Storage="…" UseType="0" Type="Heap (Private Data)" Details="Heap ID: 1 [LOW FRAGMENTATION]"/>
//	</Snapshot>
//
// Numbers are decimal, or hexadecimal with 0x or where a digit says so; sizes are bytes. A reservation stands before
// the blocks that it consists of, which are regions as well: the reservations are counted, and the blocks compared with
// them.
package vmmap

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/evidence"
	"heapdrift/ingest/markup"
)

// Kind is that of captures of files of VMMap.
const Kind capture.Kind = "vmmap"

// Read reads a file: one capture for each snapshot in it, in their order. It holds one element of the file and what the
// captures hold, which is bounded.
//
// Damage gives warnings, not an error. The error is an *evidence.Error when r holds no region or when r fails, and the
// context's when that ends; what was read until then is returned beside it.
func Read(ctx context.Context, r io.Reader) ([]*capture.Capture, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	f := &file{in: markup.NewElements(ctx, r), room: maxHeaps * 10}
	err := f.read()
	switch {
	case ctx.Err() != nil:
		return f.done, context.Cause(ctx)
	case err != nil:
		return f.done, &evidence.Error{Code: CodeReadFailed, Message: "reading the file failed", Line: f.in.Line(), Err: err}
	case len(f.done) == 0:
		return nil, &evidence.Error{Code: CodeNoData, Message: "no region was found",
			Do: "save the file with File, Save As in VMMap, as *.mmp", Line: f.in.Line()}
	}
	return f.done, nil
}

// Sniff reports whether head, the first bytes of a file, looks like a file of VMMap: up to 64 KiB in UTF-8 or UTF-16.
func Sniff(head []byte) bool {
	plain, _ := io.ReadAll(markup.NewUTF8Reader(bytes.NewReader(head))) // reading from memory does not fail
	plain = bytes.ToLower(bytes.TrimLeft(plain, " \t\r\n\uFEFF"))
	return bytes.HasPrefix(plain, []byte("<")) &&
		(bytes.Contains(plain, []byte("<region ")) && bytes.Contains(plain, []byte("usetype=")) ||
			bytes.Contains(plain, []byte("<snapshot")) && bytes.Contains(plain, []byte("memoryregions")))
}

// A file is read into snapshots. What its outer elements say of the process holds for all of them.
type file struct {
	in      *markup.Elements
	process process
	now     *snapshot // nil between snapshots
	room    int       // heaps that may still be kept
	done    []*capture.Capture
	left    int64 // snapshots that there was no room for
}

// maxSnapshots bounds the captures of one file.
const maxSnapshots = 1000

// read reads to the end. Its error is that of the source; damage of the markup is said in warnings.
func (f *file) read() error {
	for {
		token, err := f.in.Next()
		if err != nil {
			return f.finish(err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			f.start(t)
		case xml.EndElement:
			if strings.EqualFold(t.Name.Local, "Snapshot") {
				f.close()
			}
		}
	}
}

func (f *file) start(t xml.StartElement) {
	name := t.Name.Local
	switch {
	case strings.EqualFold(name, "Snapshot"):
		f.close()
		f.now = newSnapshot(f.process, &f.room)
		f.now.process.take(t.Attr)
	case strings.EqualFold(name, "Region"):
		if f.now == nil {
			f.now = newSnapshot(f.process, &f.room)
		}
		f.now.element(t.Attr, f.in.Line())
	case f.now == nil:
		f.process.take(t.Attr)
	case f.now.regions == 0 && f.now.top.size == 0: // between the beginning of a snapshot and its regions
		f.now.process.take(t.Attr)
	}
}

// close ends a snapshot, if one is open.
func (f *file) close() {
	if f.now == nil {
		return
	}
	c := f.now.finish()
	f.now = nil
	switch {
	case c == nil:
	case len(f.done) == maxSnapshots:
		f.left++
	default:
		f.done = append(f.done, c)
	}
}

// finish ends the file for the reason that err gives.
func (f *file) finish(err error) error {
	damaged, before := f.in.Depth() > 0 || !errors.Is(err, io.EOF), len(f.done)
	if f.now != nil && damaged {
		f.now.truncate(f.in.Line())
	}
	f.close()
	if n := len(f.done); n > 0 {
		c := f.done[n-1]
		if damaged && n == before {
			c.Warnings = append(c.Warnings,
				capture.Warning{Code: capture.Truncated, Count: 1, Place: fmt.Sprintf("line %d", f.in.Line()),
					Message: "the file ends early behind this snapshot, which is whole: others may be missing"})
		}
		if markup.IsMarkup(err) && !strings.Contains(err.Error(), "unexpected EOF") {
			c.Warnings = append(c.Warnings,
				capture.Warning{Code: capture.Malformed, Count: 1, Place: fmt.Sprintf("line %d", f.in.Line()),
					Message: "the markup is damaged, and what follows is not read: " + err.Error()})
		}
		if f.left > 0 {
			c.Warnings = append(c.Warnings, capture.Warning{Code: capture.Truncated, Count: f.left,
				Message: fmt.Sprintf("the file holds more than %d snapshots; the %d after this one are left out",
					maxSnapshots, f.left)})
		}
	}
	if errors.Is(err, io.EOF) || markup.IsMarkup(err) {
		return nil
	}
	return err
}
