package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis/blame"
)

// An Input is evidence that was read together, mostly one file, and its captures in the order of the evidence.
type Input struct {
	Files    []File
	Captures []*capture.Capture
	// Work is how much work the process had done when the evidence was taken, in Options.WorkUnit; nil where the upload
	// does not say. The captures may say it then.
	Work *float64
}

// A File is one file of evidence.
type File struct {
	Name   string
	SHA256 string
	Bytes  int64
}

// name is what warnings call the input.
func (in *Input) name() string {
	names := make([]string, len(in.Files))
	for i, f := range in.Files {
		names[i] = f.Name
	}
	return strings.Join(names, " + ")
}

// Options choose what is analysed.
type Options struct {
	// Process is a pid, an image name, or pid#n for the n-th process of that pid; "" for the one with most outstanding
	// bytes.
	Process string
	// Names are what symbols tell about the return addresses; nil for nothing.
	Names *capture.Names
	// Rules are the project's; nil for none.
	Rules *blame.Rules
	// OwnModules are the names of the modules whose symbols the team has uploaded, as debuggers print them, in lower case.
	OwnModules map[string]bool
	// WorkUnit is the unit of Input.Work, singular: "document".
	WorkUnit string
	// Matters is the growth from which a leak matters; nil for the default.
	Matters *RequestedThreshold
	// Settle is how long growth is ignored at the beginning of the evidence; 0 for not at all.
	Settle time.Duration
	// ShownRows is how many findings and sites somebody will look at; 0 for all. Of the others, the report has the figures
	// only; the facts that names tell of their stacks are computed when JSON is written.
	ShownRows int
}

// An Error says why captures cannot be analysed; its Code is stable.
type Error struct {
	Code    string
	Message string
}

func (e *Error) Error() string { return e.Message }

// The codes of errors. They are stable.
const (
	CodeNoSuchProcess = "no-such-process" // the evidence does not show Options.Process

	// Of windows of traces.
	CodeNotATrace    = "not-a-trace"   // the report is of snapshots
	CodeTableMissing = "table-missing" // the allocation table is not in the blob store any more
	CodeBadWindow    = "bad-window"    // it ends before it begins, or lies outside the trace
	CodeReadAgain    = "read-again"    // the trace was read again, and the report on that is not there yet
)

// ErrTableMissing is returned where the allocation table of a report has been deleted.
var ErrTableMissing = &Error{CodeTableMissing,
	"upload the trace again under another name: its allocation table is no longer stored"}

// A part is one capture with the file it came from.
type part struct {
	*capture.Capture
	file  string
	input int
	order int // of all captures, in the order of the evidence
	work  *float64
}

// repeated reports whether all files of an input were there before, and notes them. The same bytes are the same
// instant. If they counted twice, growth would seem to come in steps with pauses between them.
func repeated(in *Input, seen map[string]string) (first string, ok bool) {
	ok = len(in.Files) > 0
	for _, f := range in.Files {
		name, known := seen[f.SHA256]
		if ok = ok && known && f.SHA256 != ""; first == "" {
			first = name
		}
	}
	for _, f := range in.Files {
		if _, known := seen[f.SHA256]; !known {
			seen[f.SHA256] = f.Name
		}
	}
	return first, ok
}

// chooseAnother says how to choose another process, for reports of the command and of the server.
const chooseAnother = "Choose another with --process (a name, a PID, or PID#2 for its second process), or under Processes on the page."

// heapsOf names the program whose heaps were traced, if the trace has no heaps of the chosen program.
func heapsOf(byProgram map[string][]part, order []string, chosen string) string {
	traced := func(program string) bool {
		return slices.ContainsFunc(byProgram[program], func(p part) bool { return p.Trace != nil && len(p.Heaps) > 0 })
	}
	if traced(chosen) {
		return ""
	}
	for _, program := range order {
		if traced(program) {
			return " Heaps were traced only of " + named(byProgram[program][0].Process) + "."
		}
	}
	return ""
}

// inOrder sorts the captures of traces by the start of their processes; other captures keep their order.
func inOrder(captures []*capture.Capture) []*capture.Capture {
	began := func(c *capture.Capture) int64 {
		if c.Trace == nil {
			return 0
		}
		return c.Trace.Began
	}
	list := slices.Clone(captures)
	slices.SortStableFunc(list, func(a, b *capture.Capture) int { return cmp.Compare(began(a), began(b)) })
	return list
}

// held is how many bytes the program holds at its last instant.
func held(parts []part) (most int64) {
	last := true
	for _, p := range slices.Backward(parts) {
		if p.Shape == capture.ShapeFacts {
			continue
		}
		if last || p.Trace != nil {
			most = max(most, p.Held())
		}
		last = false
	}
	return most
}

// isProcess reports whether p, the nth process of its pid, is the wanted process.
func isProcess(p capture.Process, nth int, want string) bool {
	if pid, number, ok := strings.Cut(want, "#"); ok {
		if n, err := strconv.Atoi(number); err == nil {
			return n == nth && isProcess(p, nth, pid)
		}
	}
	if pid, err := strconv.ParseUint(want, 10, 32); err == nil {
		return uint64(p.PID) == pid
	}
	return strings.EqualFold(p.Name, want) || strings.EqualFold(strings.TrimSuffix(strings.ToLower(p.Name), ".exe"), want)
}

func named(p capture.Process) string {
	if p.Name == "" {
		return "the process"
	}
	return p.Name
}

// listed is how many processes a message names: a trace may show all of a machine.
const listed = 12

func processes(inputs []Input) []string {
	var names []string
	seen := map[string]bool{}
	for _, in := range inputs {
		for _, c := range in.Captures {
			name := named(c.Process)
			if c.Process.PID != 0 {
				name += fmt.Sprintf(" (PID %d)", c.Process.PID)
			}
			if !seen[name] {
				seen[name] = true
				names = append(names, name)
			}
		}
	}
	if more := len(names) - listed; more > 0 {
		names = append(names[:listed], fmt.Sprintf("and %d more", more))
	}
	return names
}
