package analysis

import (
	"fmt"
	"strconv"
	"strings"

	"heapdrift/ingest/capture"
)

// An Input is one evidence file and the captures that were read from it, in the order of the file.
type Input struct {
	File     string
	SHA256   string
	Bytes    int64
	Captures []*capture.Capture
}

// Options choose what is analysed.
type Options struct {
	Process string // pid or image name; "" for the program with most outstanding bytes
	// Names are what symbols tell about the return addresses; nil for nothing.
	Names *capture.Names
}

// An Error says why captures cannot be analysed; its Code is stable.
type Error struct {
	Code    string
	Message string
}

func (e *Error) Error() string { return e.Message }

// A part is one capture with the file it came from.
type part struct {
	*capture.Capture
	file  string
	input int
}

// choose picks the captures of the one program that the report is about. What it leaves out, a warning names.
func choose(inputs []Input, opt Options) ([]part, []Warning, error) {
	byProgram, order := map[string][]part{}, []string(nil)
	for i, in := range inputs {
		for _, c := range in.Captures {
			if opt.Process != "" && !isProcess(c.Process, opt.Process) {
				continue
			}
			program := strings.ToLower(c.Process.Name)
			if byProgram[program] == nil {
				order = append(order, program)
			}
			byProgram[program] = append(byProgram[program], part{c, in.File, i})
		}
	}
	switch len(order) {
	case 0:
		if opt.Process == "" {
			return nil, nil, &Error{"no-captures", "analysis: nothing to analyse: the evidence holds no capture"}
		}
		return nil, nil, &Error{"no-such-process", fmt.Sprintf("analysis: no evidence of process %q; it holds %s", opt.Process, strings.Join(processes(inputs), ", "))}
	case 1:
		return oneShape(byProgram[order[0]], nil)
	}
	most := order[0]
	for _, program := range order[1:] {
		if held(byProgram[program]) > held(byProgram[most]) {
			most = program
		}
	}
	return oneShape(byProgram[most], []Warning{{
		Code: "several-processes", Count: int64(len(order)),
		Message: fmt.Sprintf("the evidence holds %d programs (%s); this report is about %s, which holds the most; choose another with --process",
			len(order), strings.Join(processes(inputs), ", "), named(byProgram[most][0].Process)),
	}})
}

// held is what the program holds at its last instant, in bytes.
func held(parts []part) int64 {
	last := parts[len(parts)-1]
	return last.Total(len(last.Snapshots) - 1).Bytes
}

// oneShape keeps snapshots where there are any, else the last difference: the rows of a difference are only
// those that changed, so differences can neither be chained nor mixed with snapshots.
func oneShape(parts []part, warnings []Warning) ([]part, []Warning, error) {
	var snapshots, differences []part
	for _, p := range parts {
		if p.Shape == capture.ShapeSnapshot {
			snapshots = append(snapshots, p)
		} else {
			differences = append(differences, p)
		}
	}
	left, reason := differences, "the snapshots say more"
	if len(snapshots) == 0 {
		snapshots, left = differences[len(differences)-1:], differences[:len(differences)-1]
		reason = "a difference lists changed stacks only, so differences cannot be chained; give the snapshots instead"
	}
	for _, p := range left {
		warnings = append(warnings, Warning{Code: capture.Unsupported, File: p.file, Count: 1, Message: p.file + " is left out: " + reason})
	}
	return snapshots, warnings, nil
}

func isProcess(p capture.Process, want string) bool {
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

func processes(inputs []Input) []string {
	var names []string
	seen := map[string]bool{}
	for _, in := range inputs {
		for _, c := range in.Captures {
			name := fmt.Sprintf("%s (pid %d)", named(c.Process), c.Process.PID)
			if !seen[name] {
				seen[name] = true
				names = append(names, name)
			}
		}
	}
	return names
}
