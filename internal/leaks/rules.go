package leaks

import (
	"context"
	"strconv"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/blame"
)

// MaxRuleFileBytes is the largest length of a rule file, in bytes.
const MaxRuleFileBytes = 1 << 20

// MaxNoteChars is how long the note on a version of a rule file may be, in characters.
const MaxNoteChars = 1000

// AppendRules returns a rule file with lines added at its end.
func AppendRules(text string, lines []string) string {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if len(lines) > 0 {
		text += strings.Join(lines, "\n") + "\n"
	}
	return text
}

// ImportRules translates the file of another tool: "triage", or "suppressions" of any tool. Its error is a *FieldError.
func ImportRules(kind, text string) (blame.RuleImport, error) {
	switch kind {
	case "triage":
		return blame.ImportTriage(text), nil
	case "suppressions", "lsan": // "lsan" is how requests of older clients name the form
		return blame.ImportSuppressions(text), nil
	}
	return blame.RuleImport{}, wrongField("kind", "%q is neither triage nor suppressions", kind)
}

// A RuleStack is a stack that leaks or grows, on which rules can be tried.
type RuleStack struct {
	Frames []*analysis.Frame // innermost first
	Kind   string
	RunID  int64 // id of the newest run that shows it
	// Signature and Title are those of the leak that the stack is part of. Tolerated says that the team tolerates it,
	// whatever rules say.
	Signature, Title string
	Tolerated        bool
}

// RuleTrial is what changed rules are tried on: the present rules, stacks of recent runs, and the modules of those
// runs.
type RuleTrial struct {
	PresentRules string // text of the project's rules
	Stacks       []RuleStack
	Runs         map[int64]*RuleContext // by the id of the run
	// Tolerated are the signatures that the team tolerates, with those that became part of them: a stack that moves to
	// one of them is silenced with it.
	Tolerated map[string]bool
	Cases     []PastCase // recent runs under the present rules
}

// A RulesPreview lists what changed rules would alter.
type RulesPreview struct {
	Stacks int          // stacks of recent runs that leak or grow
	Moves  []blame.Move // signatures that change
	Impact
}

// Preview compares the rules after with the present ones.
func (t *RuleTrial) Preview(ctx context.Context, after *blame.Rules) (*RulesPreview, error) {
	before, err := blame.ParseRules(t.PresentRules)
	if err != nil { // rules of an older version of this program: then everything is compared with the core's alone
		before = blame.DefaultRules()
	}
	judged := make([]blame.Stack, len(t.Stacks))
	for i, s := range t.Stacks {
		judged[i] = blame.Stack{Kind: s.Kind, Count: 1}
		for _, f := range s.Frames {
			judged[i].Frames = append(judged[i].Frames, t.Runs[s.RunID].frame(f))
		}
	}
	moves, err := blame.MovedSignatures(ctx, before, after, judged)
	if err != nil {
		return nil, err
	}
	was, err := blame.ApplyRules(ctx, before, judged)
	if err != nil {
		return nil, err
	}
	then, err := blame.ApplyRules(ctx, after, judged)
	if err != nil {
		return nil, err
	}
	p := &RulesPreview{Stacks: len(judged), Moves: moves}
	standings := t.standings(was, then)
	p.Silenced, p.Unsilenced = standings.changes()
	p.Runs = len(t.Cases)
	decided, err := decideTwice(ctx, t.Cases, standings.apply)
	p.ChangedRuns = turnsOf(decided)
	return p, err
}

// RuleContext has the modules of a run, and its frames in the form that rules need.
type RuleContext struct {
	own     map[string]bool // stems of modules whose symbols the team uploaded
	program string
	named   map[string]*blame.Module // by name in lower case
	frames  map[analysis.Frame]*blame.Frame
}

// NewRuleContext takes the modules of a run from its report, of which it needs no sites. own are the names, in lower
// case and without extension, of modules whose symbols the team has uploaded.
func NewRuleContext(head *analysis.Report, own []string) *RuleContext {
	m := &RuleContext{own: map[string]bool{}, program: stem(head.Process.Name), named: map[string]*blame.Module{},
		frames: map[analysis.Frame]*blame.Frame{}}
	for _, name := range own {
		m.own[name] = true
	}
	for i := range head.Modules {
		module := &head.Modules[i]
		made := m.module(stem(module.Name))
		made.Path, made.Own, made.Private = module.Path, made.Own || module.Own, module.Symbols == capture.SymbolsPrivate
		made.Build = "0x" + strconv.FormatUint(module.Size, 16)
	}
	return m
}

// module is the module of a name. Evidence may use a name that it does not list among its modules.
func (m *RuleContext) module(name string) *blame.Module {
	lower := strings.ToLower(name)
	if m.named[lower] == nil {
		m.named[lower] = &blame.Module{Name: name, Own: m.own[lower], Program: strings.EqualFold(name, m.program)}
	}
	return m.named[lower]
}

// frame converts a frame of a report to the form that rules take. A frame that is in many stacks is converted once.
func (m *RuleContext) frame(f *analysis.Frame) *blame.Frame {
	key := *f
	if made := m.frames[key]; made != nil {
		return made
	}
	place := f.Offset
	if f.Module == "" && f.Function == "" { // outside every module the address tells places apart
		place = f.Address
	}
	offset, _ := strconv.ParseUint(place, 0, 64) // "" is none
	made := &blame.Frame{Function: f.Function, Offset: offset, File: f.File, Kernel: f.Layer == blame.LayerSystem &&
		f.Rule == "origin/kernel" || f.Rule == "alloc/kernel"}
	if f.Module != "" {
		made.Module = m.module(f.Module)
		made.Module.Private = made.Module.Private || f.File != ""
	}
	m.frames[key] = made
	return made
}

// stem is the name of an image as debuggers print it: without folder and extension.
func stem(name string) string { return capture.Module{Path: name}.Name() }
