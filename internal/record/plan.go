package record

import (
	"fmt"
	"io"
	"strings"
	"time"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/record/collect"
	"heapdrift/internal/record/flags"
	"heapdrift/internal/record/target"
)

// A Plan says what a recording is going to do. Making it changes nothing.
type Plan struct {
	Image     string // file name of the program
	Collector *collect.Collector
	Changes   []flags.Change // of settings of Windows
	// Running is the process to record; nil where it is to be started or waited for.
	Running target.Running

	options *Options
	needs   []string // what only an administrator may do of it
	notes   []string
}

// Plan looks at the machine and decides what to do. It changes nothing.
func (r *Recorder) Plan() (*Plan, error) {
	p := &Plan{options: &r.Options}
	var err error
	if p.Collector, err = collect.New(r.Options.Evidence, &r.Machine.Tools, r.Options.DatabaseMB); err != nil {
		return nil, err
	}
	if err := p.find(r); err != nil {
		return nil, err
	}
	bits := 0
	if p.Running != nil {
		bits = p.Running.Info().Bits
	}
	if p.Collector.Needs != nil {
		if err := p.Collector.Needs(bits); err != nil {
			return p, err
		}
	}
	if (p.Running == nil || r.Options.Watch) && !r.Options.NoFlags && !r.Options.prepared {
		if err := r.refuseSecond(p.Image); err != nil {
			return p, err
		}
		if p.Changes, err = flags.Compute(r.Machine.Registry, p.Image, p.Collector.Want); err != nil {
			return p, &FlagsError{Err: err}
		}
	}
	p.gather()
	if len(p.needs) > 0 && !r.Machine.Processes.Elevated() {
		return p, &FlagsError{Elevate: true, Err: fmt.Errorf("only an administrator may %s: add --elevate, run this line in a console "+
			`opened with "Run as administrator", or add --no-flags, which records without call stacks`, strings.Join(p.needs, ", and "))}
	}
	return p, nil
}

// find names the program, and opens its process where it is recorded as it runs.
func (p *Plan) find(r *Recorder) (err error) {
	t, system := &r.Options.Target, r.Machine.Processes
	switch {
	case len(t.Command) > 0:
		if p.Image = flags.ImageName(t.Command[0]); p.Image == "" {
			return fmt.Errorf("%q is not a program", t.Command[0])
		}
		if !strings.Contains(p.Image, ".") { // as the shell finds it
			p.Image += ".exe"
		}
	case t.PID != 0:
		p.Running, err = system.Open(t.PID)
	case t.Image != "":
		p.Image = t.Image
		if p.Running, err = target.Only(system, t.Image); err == nil && p.Running != nil && !p.usable(r) {
			p.notes = append(p.notes, fmt.Sprintf("%s runs as PID %d without what the evidence needs: restart it when the recording waits",
				t.Image, p.Running.Info().PID))
			p.Running.Close()
			p.Running = nil
		}
	case t.Service != "":
		path, _, err := system.Service(t.Service)
		if err != nil {
			return err
		}
		p.Image = flags.ImageName(path)
		return target.OwnService(t.Service, path)
	default:
		p.Image = target.PoolImage
		p.notes = append(p.notes, "other pools of IIS that start during the recording get the same settings")
	}
	if err == nil && p.Running != nil {
		p.Image = p.Running.Info().Image
	}
	return err
}

// usable reports whether a process that runs already can be recorded as it is.
func (p *Plan) usable(r *Recorder) bool {
	if r.Options.NoFlags || p.Collector.Want.Nothing() {
		return true
	}
	info := p.Running.Info()
	return p.Collector.Want.Stacks && info.HasFlags && info.Flags&flags.StackTraces != 0
}

// gather collects what the plan says beside the changes.
func (p *Plan) gather() {
	t := &p.options.Target
	if len(p.Changes) > 0 {
		p.needs = append(p.needs, "change the settings of "+p.Image)
	}
	if t.Service != "" {
		p.needs = append(p.needs, "restart the service "+t.Service)
	}
	if t.Pool != "" {
		p.needs = append(p.needs, "recycle the pool "+t.Pool)
	}
	if p.Collector.Elevated {
		p.needs = append(p.needs, "record a trace")
	}
	if p.Running == nil || !p.Collector.Want.Stacks {
		return
	}
	if info := p.Running.Info(); info.HasFlags && info.Flags&flags.StackTraces == 0 {
		p.notes = append(p.notes, fmt.Sprintf(
			"PID %d started without +ust: its blocks have no call stacks. Record it with --image %s and restart it",
			info.PID, info.Image))
	}
}

// Print writes the plan.
func (p *Plan) Print(w io.Writer) {
	o := p.options
	line := func(name, format string, args ...any) {
		fmt.Fprintf(w, "%-10s %s\n", name, fmt.Sprintf(format, args...))
	}
	switch t := &o.Target; {
	case p.Running != nil:
		line("program", "%s, PID %d, as it runs", p.Image, p.Running.Info().PID)
	case len(t.Command) > 0 && o.Keep:
		line("program", "start %s; it runs on afterwards", p.Image)
	case len(t.Command) > 0:
		line("program", "start %s, and end it after the recording (--keep leaves it running)", p.Image)
	case t.Service != "":
		line("program", "restart the service %s (%s), which keeps its call stacks until its next restart", t.Service, p.Image)
	case t.Pool != "":
		line("program", "recycle the application pool %s (%s)", t.Pool, p.Image)
	default:
		line("program", "wait for the next start of %s", p.Image)
	}
	evidence := p.Collector.Kind
	if p.Collector.Why != "" {
		evidence += ", because " + p.Collector.Why
	}
	line("evidence", "%s", evidence)
	line("cost", "%s", p.Collector.Costs)
	line("when", "%s", p.when())
	for i := range p.Changes {
		line("change", `HKLM\%s\%s %s`, flags.Root, p.Image, p.Changes[i].String())
	}
	if len(p.Changes) > 0 {
		line("restore", "%s; after a kill by heapdrift record --undo, or by a scheduled task after %s and at the next boot",
			p.restored(), quantity.ShortDuration(o.UndoAfter))
	} else {
		line("change", "nothing on this machine")
	}
	if len(p.needs) > 0 {
		line("needs", "an administrator, to %s", strings.Join(p.needs, ", and "))
	}
	for _, note := range p.notes {
		line("note", "%s", note)
	}
	line("files", "%s", o.Dir)
}

// restored says when settings are restored.
func (p *Plan) restored() string {
	if p.restoresEarly() {
		return "after the first snapshot"
	}
	return "when the recording ends"
}

// restoresEarly reports whether the process needs the settings only until it has started.
func (p *Plan) restoresEarly() bool { return p.Collector.WantedAtStart && !p.options.Watch }

func (p *Plan) when() string {
	o := p.options
	count := "snapshots without an end"
	if o.Snapshots > 0 {
		count = quantity.Plural(o.Snapshots, "snapshot")
	}
	switch {
	case p.Collector.Take == nil:
		return quantity.ShortDuration(o.length()) + " in one trace"
	case o.Counter != "":
		return fmt.Sprintf("%s, each after %g more in %s", count, o.Step, o.Counter)
	case o.Event != "":
		return fmt.Sprintf("%s, each when the event %s is set, at Enter or heapdrift mark", count, o.Event)
	case o.PerWork:
		return count + ", each at Enter or heapdrift mark"
	case o.At != nil:
		return fmt.Sprintf("%s, each day at %s", count, o.At)
	case o.Snapshots == 0:
		return fmt.Sprintf("%s, every %s", count, quantity.ShortDuration(o.Every))
	}
	return fmt.Sprintf("%s, every %s: %s", count, quantity.ShortDuration(o.Every),
		quantity.ShortDuration(o.length().Round(time.Second)))
}
