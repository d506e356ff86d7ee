package export

import (
	"fmt"
	"io"
	"strconv"

	"github.com/google/pprof/profile"

	"heapdrift/internal/analysis"
)

// pprof writes a profile.proto in gzip: a sample for each site, with its heap, kind, class and signature as labels.
// Growth may be negative there.
func pprof(w io.Writer, r *analysis.Report, _ Options) error {
	p := &profile.Profile{PeriodType: &profile.ValueType{Type: "space", Unit: "bytes"}, Period: 1,
		Comments: []string{r.Verdict.Sentence}}
	all := measures(r)
	for _, m := range all {
		p.SampleType = append(p.SampleType, &profile.ValueType{Type: m.pprofType, Unit: m.pprofUnit})
	}
	p.DefaultSampleType = all[0].pprofType
	if r.Window != nil {
		p.DurationNanos = r.Window.DurationNS
	} else if n := len(r.Snapshots); n > 0 {
		p.DurationNanos = r.Snapshots[n-1].AtNS - r.Snapshots[0].AtNS
	}
	b := pprofBuilder{report: r, profile: p, modules: map[string]*profile.Mapping{},
		functions: map[pprofFunction]*profile.Function{}, locations: map[string]*profile.Location{}}
	b.addModules()
	for i := range r.Sites {
		s := &r.Sites[i]
		sample := &profile.Sample{Location: b.stack(s.Stack),
			Label: map[string][]string{"kind": {s.Kind}, "class": {string(s.Verdict)}}}
		for name, text := range map[string]string{"heap": s.Heap, "signature": s.Signature} {
			if text != "" {
				sample.Label[name] = []string{text}
			}
		}
		for _, m := range all {
			sample.Value = append(sample.Value, m.of(s))
		}
		p.Sample = append(p.Sample, sample)
	}
	if err := p.CheckValid(); err != nil {
		return fmt.Errorf("export: write pprof: %w", err)
	}
	if err := p.Write(w); err != nil {
		return fmt.Errorf("export: write pprof: %w", err)
	}
	return nil
}

// pprofFunction is what tells functions apart.
type pprofFunction struct{ name, file string }

// A pprofBuilder makes each mapping, function and location once.
type pprofBuilder struct {
	report    *analysis.Report
	profile   *profile.Profile
	modules   map[string]*profile.Mapping
	functions map[pprofFunction]*profile.Function
	locations map[string]*profile.Location // by the numbers of their frames
}

// addModules makes a mapping of each module, with the id of its PDB.
func (b *pprofBuilder) addModules() {
	for i := range b.report.Modules {
		m := &b.report.Modules[i]
		mapping := &profile.Mapping{ID: uint64(len(b.profile.Mapping) + 1), File: m.Name, BuildID: m.DebugID,
			HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true}
		if base, ok := address(m.Base); ok {
			mapping.Start, mapping.Limit = base, base+m.Size
		}
		b.profile.Mapping = append(b.profile.Mapping, mapping)
		if _, there := b.modules[m.Name]; !there {
			b.modules[m.Name] = mapping
		}
	}
}

// stack is the locations of a stack, innermost first. Inlined calls stand in one location with the call that they were
// inlined into.
func (b *pprofBuilder) stack(ref analysis.StackRef) []*profile.Location {
	var locations []*profile.Location
	numbers := b.report.Stacks.FrameNumbers(ref)
	for from := 0; from < len(numbers); {
		to := from + 1
		for to < len(numbers) && b.report.Stacks.Frame(numbers[to-1]).Inline {
			to++
		}
		locations = append(locations, b.location(numbers[from:to]))
		from = to
	}
	return locations
}

func (b *pprofBuilder) location(numbers []uint32) *profile.Location {
	key := fmt.Sprint(numbers)
	if l := b.locations[key]; l != nil {
		return l
	}
	l := &profile.Location{ID: uint64(len(b.profile.Location) + 1)}
	for _, n := range numbers {
		f := b.report.Stacks.Frame(n)
		l.Line = append(l.Line, profile.Line{Function: b.function(pprofFunction{f.Name(), f.File}), Line: int64(f.Line)})
		l.Mapping = b.modules[f.Module]
		if at, ok := address(f.Address); ok {
			l.Address = at
		}
	}
	if m := l.Mapping; m != nil && (l.Address < m.Start || l.Address >= m.Limit) { // of another life of the process
		l.Address = 0
	}
	b.locations[key] = l
	b.profile.Location = append(b.profile.Location, l)
	return l
}

func (b *pprofBuilder) function(key pprofFunction) *profile.Function {
	f := b.functions[key]
	if f == nil {
		f = &profile.Function{ID: uint64(len(b.profile.Function) + 1), Name: key.name,
			SystemName: key.name, Filename: key.file}
		b.functions[key] = f
		b.profile.Function = append(b.profile.Function, f)
	}
	return f
}

// address reads an address as reports write it.
func address(text string) (uint64, bool) {
	at, err := strconv.ParseUint(text, 0, 64)
	return at, err == nil
}
