package analysis

import (
	"fmt"
	"slices"
	"strings"

	"heapdrift/ingest/capture"
)

// programs groups the captures of the evidence by program.
type programs struct {
	captures []programCandidate // in the order of the evidence
	nameless []part             // facts without a program
	again    []Warning          // of files that were given twice
	order    []string           // programs that captures name for certain, in lower case
	sure     map[string][]part  // by program
}

// A programCandidate is a capture with its program, which programOf finds if the capture does not name it.
type programCandidate struct {
	part
	instance int    // process of its pid in its evidence
	program  string // in lower case
}

// choose picks the captures of the one program that the report is about. Warnings name the evidence that is left out.
func choose(inputs []Input, opt Options) (*choice, error) {
	all := programsOf(inputs)
	if parts := all.lists(); parts != nil && opt.Process == "" {
		return withFacts(parts, all.nameless, all.again), nil
	}
	byProgram, order := all.wanted(opt.Process)
	switch len(order) {
	case 0:
		if len(all.nameless) > 0 {
			return ofKind(all.nameless, all.again), nil
		}
		if opt.Process == "" {
			return nil, &Error{"no-captures", "analysis: nothing to analyse: the evidence holds no capture"}
		}
		return nil, &Error{CodeNoSuchProcess,
			fmt.Sprintf("analysis: no evidence of process %q; the evidence holds %s", opt.Process, strings.Join(processes(inputs), ", "))}
	case 1:
		return withFacts(byProgram[order[0]], all.nameless, all.again), nil
	}
	most := order[0]
	for _, program := range order[1:] {
		if held(byProgram[program]) > held(byProgram[most]) {
			most = program
		}
	}
	return withFacts(byProgram[most], all.nameless, append(all.again, Warning{
		Code: capture.SeveralProcesses, Count: int64(len(order)),
		Message: fmt.Sprintf("The evidence holds %d programs (%s). This report is about %s, which holds the most. %s%s",
			len(order), strings.Join(processes(inputs), ", "), named(byProgram[most][0].Process), chooseAnother,
			heapsOf(byProgram, order, most)),
	})), nil
}

// lists are the captures, where all of them list what was left at exit: those of a job are of all its programs. They
// are nil where other evidence is about one program.
func (all *programs) lists() (parts []part) {
	for i := range all.captures {
		if !all.captures[i].isList() {
			return nil
		}
		parts = append(parts, all.captures[i].part)
	}
	return parts
}

func programsOf(inputs []Input) *programs {
	all := &programs{sure: map[string][]part{}}
	seen := map[string]string{} // names of files by digest
	nth := 0
	for i := range inputs {
		if first, ok := repeated(&inputs[i], seen); ok {
			all.again = append(all.again, Warning{Code: capture.Unsupported, File: inputs[i].name(), Count: 1,
				Message: fmt.Sprintf("%s is the same file as %s and counts once.", inputs[i].name(), first)})
			continue
		}
		lives := map[uint32]int{}
		for _, c := range inOrder(inputs[i].Captures) {
			nth++
			next := programCandidate{part: part{c, inputs[i].name(), i, nth, workOf(&inputs[i], c)}}
			if c.Shape == capture.ShapeFacts && c.Process.Name == "" {
				all.nameless = append(all.nameless, next.part)
				continue
			}
			lives[c.Process.PID]++
			next.instance, next.program = lives[c.Process.PID], strings.ToLower(c.Process.Name)
			all.captures = append(all.captures, next)
			if c.Trace == nil && !namesProgram(c.Process.Name) {
				continue
			}
			if all.sure[next.program] == nil {
				all.order = append(all.order, next.program)
			}
			all.sure[next.program] = append(all.sure[next.program], next.part)
		}
	}
	for i := range all.captures {
		if f := &all.captures[i]; all.sure[f.program] == nil {
			f.program = all.programOf(f.part)
		}
	}
	return all
}

// namesProgram reports whether a process name names a program. A log without a program is named after its first
// module, a difference after the debugger's name for that module.
func namesProgram(name string) bool { return strings.HasSuffix(strings.ToLower(name), ".exe") }

// stem is a program as debuggers print it before the "!", in lower case.
func stem(program string) string { return strings.TrimSuffix(strings.ToLower(program), ".exe") }

// programOf finds the program of a capture that names none: by its process id, by its name, by its frames, or by the
// snapshots that it compares. A capture with none of these belongs to the only program there is.
func (all *programs) programOf(p part) string {
	modules := modulesIn(p.Capture)
	for _, isOf := range []func(string) bool{
		func(program string) bool {
			return p.Process.PID != 0 &&
				slices.ContainsFunc(all.sure[program], func(s part) bool { return s.Process.PID == p.Process.PID })
		},
		func(program string) bool { return stem(program) == stem(p.Process.Name) },
		func(program string) bool { return modules[stem(program)] },
		func(program string) bool {
			return slices.ContainsFunc(all.sure[program], func(s part) bool { return isComparisonOf(p.Capture, s.Capture) })
		},
	} {
		if i := slices.IndexFunc(all.order, isOf); i >= 0 {
			return all.order[i]
		}
	}
	if p.Process.Name == "" && len(all.order) == 1 {
		return all.order[0]
	}
	return strings.ToLower(p.Process.Name)
}

// modulesIn are the modules that a capture lists or that its frames name, as debuggers print them, in lower case.
func modulesIn(c *capture.Capture) map[string]bool {
	names := map[string]bool{}
	for _, m := range c.Modules {
		names[strings.ToLower(m.Name())] = true
	}
	for id := range c.Stacks.FrameCount() {
		if text := c.Stacks.Text(c.Stacks.Frame(capture.FrameID(id))); text != nil {
			names[strings.ToLower(text.Module)] = true
		}
	}
	return names
}

// isComparisonOf reports whether a snapshot is the old or the new side of a difference: both have the same count and
// bytes for each stack id of the difference.
func isComparisonOf(d, snapshot *capture.Capture) bool {
	if d.Shape != capture.ShapeDifference || snapshot.Shape != capture.ShapeSnapshot {
		return false
	}
	holds := map[uint64]capture.Usage{}
	for i := range snapshot.Sites {
		site := &snapshot.Sites[i]
		holds[site.Trace] = holds[site.Trace].Add(site.Usage[0])
	}
	for side := range d.Snapshots {
		same := 0
		for i := range d.Sites {
			is, was := d.Sites[i].Usage[side], holds[d.Sites[i].Trace]
			if d.Sites[i].Trace == 0 || is.Count != was.Count || is.Bytes != was.Bytes {
				same = -1
				break
			}
			if is.Count > 0 {
				same++
			}
		}
		if same > 0 {
			return true
		}
	}
	return false
}

// wanted returns the captures of each program that Options.Process chooses, or of all programs if it is "". Captures
// that name no process belong to the process of their program.
func (all *programs) wanted(process string) (byProgram map[string][]part, order []string) {
	is := func(f *programCandidate) bool {
		return process == "" || isProcess(f.Process, f.instance, process) ||
			isProcess(capture.Process{Name: f.program, PID: f.Process.PID}, f.instance, process)
	}
	asked := map[string]bool{}
	for i := range all.captures {
		f := &all.captures[i]
		asked[f.program] = asked[f.program] || is(f)
	}
	byProgram = map[string][]part{}
	for i := range all.captures {
		f := &all.captures[i]
		if follows := f.Trace == nil && f.Process.PID == 0 && asked[f.program]; !is(f) && !follows {
			continue
		}
		if byProgram[f.program] == nil {
			order = append(order, f.program)
		}
		byProgram[f.program] = append(byProgram[f.program], f.part)
	}
	return byProgram, order
}

// processIn is the process that parts show, by the last parts with its name, PID and width. Lists of several programs
// show none.
func processIn(parts []part) capture.Process {
	p := parts[len(parts)-1].Process
	if names := programsOfLists(parts); len(names) > 1 {
		return capture.Process{}
	}
	for _, before := range slices.Backward(parts) {
		if b := before.Process; !namesProgram(p.Name) && namesProgram(b.Name) {
			p.Name = b.Name
		}
		if p.PID == 0 {
			p.PID = before.Process.PID
		}
		if p.Bits == 0 {
			p.Bits = before.Process.Bits
		}
	}
	return p
}
