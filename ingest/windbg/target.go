package windbg

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"heapdrift/ingest/capture"
)

// A target is the process that the debugger looks at, as far as the log tells.
type target struct {
	process capture.Process
	takenAt time.Time
	dump    string // path of the dump, "" for a live process
	others  bool   // the log turned from one process to another
	system  string // "Windows 10 Version 19041 MP (4 procs) Free x64"
}

// forget is called where the log turns to another process.
func (t *target) forget() {
	t.process = capture.Process{Machine: t.process.Machine}
	t.dump, t.others = "", true
}

// share gives what the log tells of the process only late to the instants before, where it is of one process.
func (t *target) share(done []*capture.Capture) {
	if t.others {
		return
	}
	for _, c := range done {
		p := &c.Process
		if p.PID == 0 {
			p.PID = t.process.PID
		}
		if p.Name == "" {
			p.Name = t.process.Name
		}
		p.Bits = max(p.Bits, t.process.Bits)
	}
}

// describe puts what is known into a capture. The bits that the heaps show are those of the process; the system's are a
// fallback, because a 32-bit process of a 64-bit system is examined by either debugger.
func (t *target) describe(c *capture.Capture) {
	if c.Process.Bits != 0 {
		t.process.Bits = c.Process.Bits
	}
	c.Process = t.process
	c.Snapshots[0].TakenAt = t.takenAt
	if t.dump != "" {
		c.Memory.Notes = append(c.Memory.Notes,
			capture.Note{Topic: capture.TopicProcess, Text: "the debugger read the dump " + t.dump})
	}
	if t.system != "" {
		c.Memory.Notes = append(c.Memory.Notes, capture.Note{Topic: capture.TopicProcess, Text: t.system})
	}
}

// facts are lines that tell of the target, by how they begin.
var facts = []struct {
	prefix string
	take   func(r *reader, value string)
}{
	{"Debug session time: ", (*reader).sessionTime},
	{"Loading Dump File [", (*reader).loadDump},
	{"Machine Name: ", func(r *reader, v string) { r.target.process.Machine = v }},
	{"PROCESS_NAME: ", (*reader).name},                                                          // !analyze -v
	{"ImageFile: ", func(r *reader, v string) { r.name(strings.Trim(v, "'")) }},                 // !peb
	{"CommandLine: ", func(r *reader, v string) { r.name(program(v)) }},                         // banner of a process that was started
	{"Windows ", func(r *reader, v string) { r.system(v) }},                                     // vertarget
	{"ModLoad: ", func(r *reader, v string) { r.name(v[strings.LastIndexAny(" "+v, " \t"):]) }}, // the first is the program
	{"Attached to process ", func(r *reader, v string) { r.pid(strings.TrimRight(v, "."), 0) }}, // .attach
	{"*** wait with pending attach", func(r *reader, _ string) { r.next(); r.target.forget() }}, // another process comes
}

// line looks whether a line tells of the target. It allocates for those that do only.
func (t *target) line(r *reader, text []byte) {
	switch c := text[0]; {
	case c == '(':
		r.event(text)
		return
	case c == '.' || '0' <= c && c <= '9':
		r.listed(text)
		return
	}
	for i := range facts {
		if f := &facts[i]; text[0] == f.prefix[0] && bytes.HasPrefix(text, []byte(f.prefix)) {
			if value := plain(text[len(f.prefix):]); value != "" {
				f.take(r, value)
			}
			return
		}
	}
}

// sessionTime reads the clock of the machine: "Tue Jan 25 11:24:37.000 2022 (UTC + 8:00)". Another time than before is
// another instant, where outputs lie between.
func (r *reader) sessionTime(value string) {
	clock, _, _ := strings.Cut(value, " (")
	at, err := time.Parse("Mon Jan _2 15:04:05 2006", clock)
	if err != nil {
		return
	}
	if !r.target.takenAt.IsZero() && !at.Equal(r.target.takenAt) {
		r.next()
	}
	r.target.takenAt = at
}

func (r *reader) loadDump(value string) {
	r.next()
	r.target = target{dump: strings.TrimSuffix(value, "]"), others: r.target.others || len(r.done) > 0}
}

// name takes the program's name, if none is known: what comes first is closest to the process.
func (r *reader) name(path string) {
	if r.target.process.Name == "" {
		r.target.process.Name = path[strings.LastIndexAny(path, `\/`)+1:]
	}
}

// program is the program of a command line.
func program(line string) string {
	if quoted, found := strings.CutPrefix(line, `"`); found {
		line, _, _ = strings.Cut(quoted, `"`)
		return line
	}
	line, _, _ = strings.Cut(line, " ")
	return line
}

func (r *reader) system(value string) {
	if !strings.Contains(value, " Version ") {
		return
	}
	r.target.system = "Windows " + value
	if r.target.process.Bits != 0 {
		return
	}
	switch {
	case strings.HasSuffix(value, " x64"), strings.Contains(value, "64-bit"):
		r.target.process.Bits = 64
	case strings.Contains(value, " x86"):
		r.target.process.Bits = 32
	}
}

// pid takes the process id in a base, 0 for the one that the number tells. Another one than before is another process.
func (r *reader) pid(digits string, base int) {
	id, err := strconv.ParseUint(digits, base, 32)
	if err != nil || id == 0 || uint32(id) == r.target.process.PID {
		return
	}
	if r.target.process.PID != 0 {
		r.next()
		r.target.forget()
	}
	r.target.process.PID = uint32(id)
}

// event reads the ids of an event: "(1a2c.3b4c): Break instruction exception - code 80000003". They name the process
// only while none is known, because events of child processes are shown too. The process ran until the event, so what
// was measured before is of another instant. A stop of Application Verifier is an event as well: the event that follows
// the stop belongs to it.
func (r *reader) event(text []byte) {
	const longest = 20
	end := bytes.Index(text[:min(len(text), longest)], []byte("): "))
	if end < 0 {
		return
	}
	if bytes.Contains(text, []byte("Break instruction exception")) && len(r.now.m.Heaps)+len(r.now.m.Groups) > 0 {
		r.next()
	}
	if r.target.process.PID != 0 {
		return
	}
	process, thread, found := bytes.Cut(text[1:end], []byte("."))
	_, isID := hex(thread)
	if _, ok := hex(process); ok && isID && found {
		r.pid(string(process), 16)
	}
}

// listed reads what "|" prints; the current process has the dot:
//
//	.  0	id: 1a2c	examine	name: C:\app\app.exe
func (r *reader) listed(text []byte) {
	if text[0] != '.' {
		return
	}
	_, rest, found := bytes.Cut(text, []byte("id: "))
	if !found {
		return
	}
	words := split(rest)
	if _, ok := hex(words.words[0]); words.n > 0 && ok {
		r.pid(string(words.words[0]), 16)
	}
	if _, name, found := bytes.Cut(rest, []byte("name: ")); found {
		r.target.process.Name = ""
		r.name(plain(name))
	}
}
