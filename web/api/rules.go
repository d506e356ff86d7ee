package api

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/blame"
	"heapdrift/internal/store"
)

const (
	// MaxRules is how long a rule file may be, in bytes.
	MaxRules = 1 << 20
	// previewStacks are the stacks of recent runs on which other rules are tried.
	previewStacks = 5000
)

// ParseRules reads a rule file. Its error is a *Problem that lists what is wrong by line.
func ParseRules(text string) (*blame.Rules, error) {
	rules, err := blame.ParseRules(text)
	if err == nil {
		return rules, nil
	}
	wrong := blame.RuleErrors(err)
	if len(wrong) == 0 {
		return nil, err
	}
	p := problem(http.StatusUnprocessableEntity, codeBadRules, "line %d: %s", wrong[0].Line, wrong[0].Message)
	for _, w := range wrong {
		p.Lines = append(p.Lines, LineProblem{w.Line, w.Code, w.Message})
	}
	if n := len(wrong) - 1; n > 0 {
		p.Detail += fmt.Sprintf("; and %d more", n)
	}
	return nil, p
}

// ImportRules translates the file of another tool. lines are rules; rejected is what has no translation.
func ImportRules(kind, text string) (lines []string, rejected []LineProblem, err error) {
	var made blame.Imported
	switch kind {
	case "triage":
		made = blame.ImportTriage(text)
	case "lsan":
		made = blame.ImportLSan(text)
	default:
		return nil, nil, invalid("kind", "kind: %q is neither triage nor lsan", kind)
	}
	for _, r := range made.Rejected {
		rejected = append(rejected, LineProblem{r.Line, "not-translated", r.Text + ": " + r.Reason})
	}
	return made.Rules, rejected, nil
}

// AppendRules is a rule file with lines behind it.
func AppendRules(text string, lines []string) string {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if len(lines) > 0 {
		text += strings.Join(lines, "\n") + "\n"
	}
	return text
}

// A RulesPreview is what other rules would move.
type RulesPreview struct {
	Stacks int // of recent runs, that leak or grow
	Moves  []blame.Move
}

// PreviewRules tries rules on the stacks of a project's recent runs, against those that it has.
func PreviewRules(ctx context.Context, s *store.Store, project string, after *blame.Rules) (*RulesPreview, error) {
	present, err := s.Rules(ctx, project)
	if err != nil {
		return nil, err
	}
	before, err := blame.ParseRules(present.Text)
	if err != nil { // rules of an older version of this program: then everything is compared with the core's alone
		before = blame.Default()
	}
	stored, err := s.StacksForDryRun(ctx, project, previewStacks)
	if err != nil {
		return nil, err
	}
	owners := newOwners(s)
	stacks := make([]blame.Stack, len(stored))
	for i := range stored {
		modules, err := owners.ofRun(ctx, stored[i].Run)
		if err != nil {
			return nil, err
		}
		stacks[i] = blame.Stack{Kind: stored[i].Kind, Count: 1}
		for _, f := range stored[i].Frames {
			stacks[i].Frames = append(stacks[i].Frames, modules.frame(f))
		}
	}
	moves, err := blame.Moved(ctx, before, after, stacks)
	if err != nil {
		return nil, err
	}
	return &RulesPreview{Stacks: len(stacks), Moves: moves}, nil
}

// owners know the modules of runs as rules look at them.
type owners struct {
	store *store.Store
	own   map[string]bool // stems of modules whose symbols the team uploaded; nil before the first run
	runs  map[int64]*runModules
}

func newOwners(s *store.Store) *owners { return &owners{store: s, runs: map[int64]*runModules{}} }

// runModules are the modules of a run, and its frames as rules look at them.
type runModules struct {
	own     map[string]bool
	program string
	named   map[string]*blame.Module // by name in lower case
	frames  map[analysis.Frame]*blame.Frame
}

func (o *owners) ofRun(ctx context.Context, run int64) (*runModules, error) {
	if m := o.runs[run]; m != nil {
		return m, nil
	}
	if o.own == nil {
		input, err := o.store.InputOfRun(ctx, run)
		if err != nil {
			return nil, err
		}
		o.own = map[string]bool{}
		for _, name := range input.OwnModules {
			o.own[name] = true
		}
	}
	summary, err := o.store.Summary(ctx, run)
	if err != nil {
		return nil, err
	}
	m := &runModules{own: o.own, program: stem(summary.Process.Name), named: map[string]*blame.Module{}, frames: map[analysis.Frame]*blame.Frame{}}
	for i := range summary.Modules {
		module := &summary.Modules[i]
		made := m.module(stem(module.Name))
		made.Path, made.Own, made.Private = module.Path, made.Own || module.Own, module.Symbols == capture.SymbolsPrivate
		made.Build = "0x" + strconv.FormatUint(module.Size, 16)
	}
	o.runs[run] = m
	return m, nil
}

// module is that of the name, which the evidence may have without listing it among the modules.
func (m *runModules) module(name string) *blame.Module {
	lower := strings.ToLower(name)
	if m.named[lower] == nil {
		m.named[lower] = &blame.Module{Name: name, Own: m.own[lower], Program: strings.EqualFold(name, m.program)}
	}
	return m.named[lower]
}

// frame is a frame of a report as rules look at it. One that is in many stacks is made once.
func (m *runModules) frame(f *analysis.Frame) *blame.Frame {
	key := *f
	if made := m.frames[key]; made != nil {
		return made
	}
	made := &blame.Frame{Function: f.Function, Offset: f.Offset, File: f.File, Kernel: f.Layer == blame.LayerSystem && f.Rule == "origin/kernel" || f.Rule == "alloc/kernel"}
	if f.Module != "" {
		made.Module = m.module(f.Module)
		made.Module.Private = made.Module.Private || f.File != ""
	}
	m.frames[key] = made
	return made
}

// stem is the name of an image as debuggers print it: without folder and extension.
func stem(name string) string { return capture.Module{Path: name}.Name() }
