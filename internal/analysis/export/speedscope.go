package export

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"heapdrift/internal/analysis"
)

// speedscopeSchema names the layout, as speedscope publishes it in file-format-spec.ts.
const speedscopeSchema = "https://www.speedscope.app/file-format-schema.json"

// The objects of a speedscope file that are written.
type (
	speedscopeFile struct {
		Schema   string              `json:"$schema"`
		Version  string              `json:"version"`
		Name     string              `json:"name"`
		Exporter string              `json:"exporter"`
		Active   int                 `json:"activeProfileIndex"`
		Shared   speedscopeShared    `json:"shared"`
		Profiles []speedscopeProfile `json:"profiles"`
	}
	speedscopeShared struct {
		Frames []speedscopeFrame `json:"frames"`
	}
	speedscopeFrame struct {
		Name string `json:"name"`
		File string `json:"file,omitempty"`
		Line uint32 `json:"line,omitempty"`
	}
	speedscopeProfile struct {
		Type    string  `json:"type"`
		Name    string  `json:"name"`
		Unit    string  `json:"unit"`
		Start   int64   `json:"startValue"`
		End     int64   `json:"endValue"`
		Samples [][]int `json:"samples"`
		Weights []int64 `json:"weights"`
	}
)

// speedscope writes a profile of growth, where there is any to show, and one of what is outstanding, in bytes and in
// blocks. A site is a sample; sites that shrank or hold nothing are left out, because the format has no negative
// widths.
func speedscope(w io.Writer, r *analysis.Report, _ Options) error {
	file := speedscopeFile{Schema: speedscopeSchema, Version: "0.0.1", Name: r.Process.Name, Exporter: "heapdrift"}
	frames := speedscopeFrames{numbers: map[uint32]int{}}
	for _, m := range measures(r) {
		p := speedscopeProfile{Type: "sampled", Name: m.name, Unit: m.speedscopeUnit, Samples: [][]int{}, Weights: []int64{}}
		for i := range r.Sites {
			if n := m.of(&r.Sites[i]); n > 0 {
				p.Samples, p.Weights = append(p.Samples, frames.sample(r, &r.Sites[i])), append(p.Weights, n)
				p.End += n
			}
		}
		file.Profiles = append(file.Profiles, p)
	}
	file.Shared.Frames = slices.Clip(frames.list)
	if file.Shared.Frames == nil {
		file.Shared.Frames = []speedscopeFrame{}
	}
	if err := json.NewEncoder(w).Encode(file); err != nil {
		return fmt.Errorf("export: write speedscope: %w", err)
	}
	return nil
}

// speedscopeFrames are the frames of a file, each once.
type speedscopeFrames struct {
	list    []speedscopeFrame
	numbers map[uint32]int // by number of the report's frame
	kinds   map[string]int // frames above all others, by name
}

// sample is the stack of a site, outermost frame first; above it stands the kind of memory.
func (f *speedscopeFrames) sample(r *analysis.Report, s *analysis.Site) []int {
	stack := []int{f.kind(s.Kind)}
	if s.Stack == 0 {
		return append(stack, f.kind("[no stack]"))
	}
	for _, number := range slices.Backward(r.Stacks.FrameNumbers(s.Stack)) {
		at, ok := f.numbers[number]
		if !ok {
			frame := r.Stacks.Frame(number)
			at = len(f.list)
			f.numbers[number] = at
			f.list = append(f.list, speedscopeFrame{frame.Name(), frame.File, frame.Line})
		}
		stack = append(stack, at)
	}
	return stack
}

func (f *speedscopeFrames) kind(name string) int {
	at, ok := f.kinds[name]
	if !ok {
		if f.kinds == nil {
			f.kinds = map[string]int{}
		}
		at = len(f.list)
		f.kinds[name] = at
		f.list = append(f.list, speedscopeFrame{Name: name})
	}
	return at
}

// A measure is a number that each site has.
type measure struct {
	name           string
	speedscopeUnit string
	pprofType      string
	pprofUnit      string
	of             func(s *analysis.Site) int64
}

// measures are what the sites of a report are measured by, the most telling first.
func measures(r *analysis.Report) []measure {
	list := []measure{
		{"bytes held", "bytes", "inuse_space", "bytes", func(s *analysis.Site) int64 { return s.Outstanding.Bytes }},
		{"blocks held", "none", "inuse_objects", "count", func(s *analysis.Site) int64 { return s.Outstanding.Count }},
	}
	if slices.ContainsFunc(r.Sites, func(s analysis.Site) bool { return s.Growth != nil }) {
		list = append([]measure{
			{"growth in bytes", "bytes", "growth_space", "bytes", func(s *analysis.Site) int64 { return grown(s).Bytes }},
			{"growth in blocks", "none", "growth_objects", "count", func(s *analysis.Site) int64 { return grown(s).Count }},
		}, list...)
	}
	if slices.ContainsFunc(r.Sites, func(s analysis.Site) bool { return s.Lifetimes != nil }) {
		list = append(list,
			measure{"allocated bytes", "bytes", "alloc_space", "bytes",
				func(s *analysis.Site) int64 { return allocated(s).Bytes }},
			measure{"allocated blocks", "none", "alloc_objects", "count",
				func(s *analysis.Site) int64 { return allocated(s).Count }})
	}
	return list
}

func grown(s *analysis.Site) analysis.Amount {
	if s.Growth == nil {
		return analysis.Amount{}
	}
	return s.GrowthBeforeExit()
}

func allocated(s *analysis.Site) analysis.Amount {
	if s.Lifetimes == nil {
		return analysis.Amount{}
	}
	return s.Allocated
}
