package blame

import (
	"cmp"
	"context"
	"fmt"

	"heapdrift/ingest/sorting"
)

// A Stack is a stack to try rules on: its frames, innermost first, and how many sites have it. Equal frames should be
// one *Frame: each is classed once.
type Stack struct {
	Kind   string // of memory: "heap" or "virtual"
	Frames []*Frame
	Count  int64 // sites
}

// A Move is a signature that other rules give another identity.
type Move struct {
	From, To             Signature
	FromBlame, ToBlame   string // names of the blamed frames; "" for a stack without frames
	FromOrigin, ToOrigin Layer  // layers of the blamed frames
	Stacks               int    // how many distinct stacks move so
	Count                int64  // how many sites those stacks have
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
	sorting.Stable(moves, func(a, b Move) int {
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

// A RuleResult is what rules say of one stack: its signature, and why the project tolerates it.
type RuleResult struct {
	Signature Signature
	Known     string // "" where the rules do not
}

// ApplyRules returns what rules say of each stack, in the order of the stacks. It only fails when the context ends.
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
