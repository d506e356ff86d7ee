package blame

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// A Stack is what a dry run judges: its frames, innermost first, and how many sites have it. Equal frames should be one
// *Frame: each is classed once.
type Stack struct {
	Kind   string
	Frames []*Frame
	Count  int64
}

// A Move is a signature that other rules give another identity.
type Move struct {
	From, To             Signature
	FromBlame, ToBlame   string // names of the frames to blame; "" for a stack without frames
	FromOrigin, ToOrigin Layer  // layers of the frames to blame
	Stacks               int    // distinct stacks that move so
	Count                int64  // of their sites
}

// MovedSignatures says which signatures change when a project's rules do, most sites first. It only fails when the
// context ends.
func MovedSignatures(ctx context.Context, before, after *Rules, stacks []Stack) ([]Move, error) {
	left, right := newJudge(before), newJudge(after)
	type pair struct{ from, to string }
	at, moves := map[pair]int{}, []Move(nil)
	for i, s := range stacks {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, fmt.Errorf("blame: %w", context.Cause(ctx))
		}
		from, to := left.sign(s), right.sign(s)
		if from.signature.ID == to.signature.ID && from.blame == to.blame {
			continue
		}
		key := pair{from.signature.ID, to.signature.ID}
		k, ok := at[key]
		if !ok {
			k = len(moves)
			at[key] = k
			moves = append(moves, Move{From: from.signature, To: to.signature, FromBlame: from.blame, ToBlame: to.blame,
				FromOrigin: from.layer, ToOrigin: to.layer})
		}
		moves[k].Stacks++
		moves[k].Count += s.Count
	}
	slices.SortStableFunc(moves, func(a, b Move) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(b.Stacks, a.Stacks), cmp.Compare(a.From.ID, b.From.ID),
			cmp.Compare(a.To.ID, b.To.ID))
	})
	return moves, nil
}

// A judge signs stacks by one set of rules. It classes each frame once.
type judge struct {
	rules   *Rules
	classes map[*Frame]*Class
	stack   []*Class
	marks   []Mark
}

func newJudge(r *Rules) *judge { return &judge{rules: r, classes: map[*Frame]*Class{}} }

type judgedStack struct {
	signature Signature
	blame     string
	layer     Layer
	known     string
}

func (j *judge) sign(s Stack) judgedStack {
	j.stack = j.stack[:0]
	for _, f := range s.Frames {
		c := j.classes[f]
		if c == nil {
			made := j.rules.Class(f)
			c = &made
			j.classes[f] = c
		}
		j.stack = append(j.stack, c)
	}
	p := MarkStackInto(j.marks, j.stack)
	j.marks = p.Marks
	out := judgedStack{signature: Sign(s.Kind, j.stack, p), known: p.Attributes(j.stack).Known}
	if p.Blame >= 0 {
		out.blame, out.layer = j.stack[p.Blame].Name(), p.Marks[p.Blame].Layer
	}
	return out
}

// A RuleResult is what rules make of one stack: its signature, and why the project tolerates it.
type RuleResult struct {
	Signature Signature
	Known     string // "" where the rules do not
}

// ApplyRules says what rules make of stacks, in their order. It only fails when the context ends.
func ApplyRules(ctx context.Context, rules *Rules, stacks []Stack) ([]RuleResult, error) {
	j, list := newJudge(rules), make([]RuleResult, len(stacks))
	for i, s := range stacks {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, fmt.Errorf("blame: %w", context.Cause(ctx))
		}
		made := j.sign(s)
		list[i] = RuleResult{made.signature, made.known}
	}
	return list, nil
}
