package umdh

import (
	"bytes"
	"strings"
	"time"

	"heapdrift/ingest/capture"
)

// comment takes a line that begins with "//". Only four kinds of them say something:
//
//	// UMDH: version VER: Logtime YYYY-MM-DD hh:mm - Machine=NAME - PID=DECIMAL
//	//     Base Size Module                                       (begins the list of modules)
//	//              400000   11D000 D:\app\app.exe                (inside it: base, size, path to the end of the line)
//	// Process modules enumerated.                                (ends it)
//	// Each log entry has the following syntax:                   (a difference, not a snapshot)
//
// All others are prose whose wording varies. Each case says for itself when the line begins another output, as what has
// come of a snapshot or a difference before it matters to each in another way.
func (r *reader) comment(line []byte) {
	text := bytes.TrimLeft(line[2:], " \t")
	switch d := r.draft; {
	case bytes.HasPrefix(text, []byte("UMDH: version")):
		if d.raw != nil || d.diff != nil || d.header {
			d = r.restart()
		}
		d.header = true
		d.snapshot()
		d.c.Process, d.c.Snapshots[0].TakenAt = parseHeader(string(text))
	case bytes.Equal(text, []byte("Base Size Module")):
		if d.diff != nil || d.raw != nil && d.raw.begun() {
			d = r.restart()
		}
		d.snapshot()
		d.inModules = true
	case bytes.HasPrefix(text, []byte("Process modules enumerated")):
		d.inModules = false
	case bytes.HasPrefix(text, []byte("Each log entry has the following syntax")):
		if d.raw != nil || d.diff != nil && d.diff.begun() {
			d = r.restart()
		}
		d.difference()
	case bytes.HasPrefix(text, []byte("Debug library initialized")) || bytes.HasPrefix(text, []byte("_NT_SYMBOL_PATH")):
		// The next output begins with this when several were put into one file; inside a snapshot it comes
		// before the heaps.
		if d.raw != nil && d.raw.begun() && !d.raw.open() || d.diff != nil && d.diff.begun() {
			r.restart()
		}
	case d.inModules:
		if m, ok := d.parseModule(text); ok {
			d.c.Modules = append(d.c.Modules, m)
		} else if _, n, _ := hexPrefix(text); n > 0 {
			d.malformed.add(d.in.number)
		}
	}
}

// parseHeader reads what it can of the line that begins a snapshot. The time has no seconds and no zone.
func parseHeader(text string) (p capture.Process, taken time.Time) {
	text = strings.TrimRight(text, " \t")
	if before, pid, ok := cutLast(text, "PID="); ok {
		p.PID, _ = decimalAll(pid)
		text = strings.TrimSuffix(before, " - ")
	}
	if before, machine, ok := strings.Cut(text, "Machine="); ok {
		p.Machine = strings.ToValidUTF8(machine, "\uFFFD")
		text = strings.TrimSuffix(before, " - ")
	}
	if _, logtime, ok := strings.Cut(text, "Logtime "); ok {
		taken, _ = time.Parse("2006-01-02 15:04", strings.TrimSpace(logtime)) // in another form it stays unknown
	}
	return p, taken
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// parseModule reads a row of the list of modules.
func (d *draft) parseModule(text []byte) (m capture.Module, ok bool) {
	base, n, ok := hexPrefix(text)
	rest := bytes.TrimLeft(text[n:], " \t")
	if !ok || len(rest) == len(text)-n {
		return m, false
	}
	size, n, ok := hexPrefix(rest)
	path := bytes.TrimLeft(rest[n:], " \t")
	if !ok || len(path) == len(rest)-n || len(path) == 0 || base+size < base {
		return m, false
	}
	d.addresses |= base
	return capture.Module{Base: base, Size: size, Path: d.text(path), Symbols: capture.SymbolsNone}, true
}

// text makes a string of bytes from the log, and notes where they were of an unknown code page.
func (d *draft) text(b []byte) string {
	s, valid := validText(b)
	if !valid {
		d.foreign.add(d.in.number)
	}
	return s
}
