package analysis

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/sorting"
	"heapdrift/internal/analysis/score"
)

// A judgedSite is a site of a series with the numbers that it is judged by. Its text is made once its place in the
// report is known.
type judgedSite struct {
	*mergedSite
	Amounts
	frames      *frames
	placed      *placedStack // its stack
	aliased     bool         // it has several
	signature   string
	stackKey    Key      // zero until identify makes it
	blamed      bool     // it has a frame to blame
	unreachable *Amount  // blocks that no pointer was found to; nil where nobody looked
	agreed      Amount   // of those, what several dumps say so of
	heapHandle  string   // "" where the evidence does not name it
	rows        []uint32 // numbers that it has in the allocation table of the trace
	sample      sample
	result      score.Result
	verdict     Class
}

// judgeSites makes the report's sites, most growth first, and behind them those that are in no total, and the findings
// that they are.
func (d *draft) judgeSites(ctx context.Context) error {
	s, r, judge, opt := d.series, d.report, d.judge, &d.opt
	made, process := make([]*frames, len(s.parts)), processIn(s.parts)
	sites, kept := make([]*judgedSite, len(s.order)), make([]judgedSite, len(s.order))
	handles := make([]string, len(s.heaps))
	for i, handle := range s.heaps {
		handles[i] = hexNumber(handle)
	}
	from := make([]int, len(s.parts)) // by part: how many sites have their stack from it
	for _, m := range s.order {
		from[m.stackOf]++
	}
	for i, m := range s.order {
		if i%1024 == 0 && ctx.Err() != nil {
			return fmt.Errorf("analysis: %w", context.Cause(ctx))
		}
		f := made[m.stackOf]
		if f == nil {
			f = newFrames(d.table, s.keys[m.stackOf], opt, process)
			f.expect(from[m.stackOf])
			made[m.stackOf] = f
		}
		site := &kept[i]
		sites[i] = site
		s.fill(site, m, f)
		if m.key.heap != capture.NoHeap {
			site.heapHandle = handles[m.key.heap]
		}
		site.sample.spans, site.sample.followed = d.spans.Of(i)
		f.prepare(m.stack)
		for _, alias := range m.aliases {
			f.prepare(alias)
		}
	}
	if err := signSites(ctx, sites); err != nil {
		return err
	}
	if err := judge.all(ctx, sites); err != nil {
		return err
	}
	siteRanking.sort(sites)
	d.numberFrames(sites)
	shown := len(sites)
	if opt.ShownRows > 0 {
		shown = min(shown, opt.ShownRows)
	}
	r.Sites = make([]Site, len(sites))
	inParts(len(sites), func(from, to int) {
		for i := from; i < to; i++ {
			r.Sites[i] = sites[i].figures()
			if i < shown {
				sites[i].write(&r.Sites[i], r.Snapshots)
			}
		}
	})
	r.lazy = &lazySites{sites: sites, snapshots: r.Snapshots, written: shown}
	d.sites = sites
	var err error
	d.findings, err = s.findings(ctx, judge, sites)
	return err
}

// numberFrames numbers the stacks of ranked sites, so that those shown first come first, and sums the sites without
// names.
func (d *draft) numberFrames(sites []*judgedSite) {
	for _, site := range sites {
		if site.placed.ref == 0 {
			site.frames.number(site.stack)
		}
		if site.aliased {
			for _, alias := range site.aliases {
				site.frames.number(alias)
			}
		}
		if site.placed.unnamed {
			held, ended := site.HeldBeforeExit()
			d.unnamed, d.unnamedEnded = d.unnamed.Plus(Amount{1, held.Bytes}), d.unnamedEnded || ended
		}
	}
}

// signSites gives sites, the rows of whose stacks are there, their signatures, on all cores. Several sites may have one
// stack.
func signSites(ctx context.Context, sites []*judgedSite) error {
	type signedStack struct {
		frames *frames
		stack  capture.StackID
		kind   capture.SiteKind
	}
	var list []signedStack
	const asked = "?" // until it is signed
	for _, site := range sites {
		for _, id := range append([]capture.StackID{site.stack}, site.aliases...) {
			if at := &site.frames.placed[id].signatures[site.key.kind]; *at == "" {
				*at = asked
				list = append(list, signedStack{site.frames, id, site.key.kind})
			}
		}
	}
	// Sites of one stack that are of several kinds follow each other at times: all write the same frame to blame.
	sorting.Stable(list, func(a, b signedStack) int { return cmp.Compare(a.kind, b.kind) })
	for from := 0; from < len(list); {
		to := from
		for to < len(list) && list[to].kind == list[from].kind {
			to++
		}
		part := list[from:to]
		inParts(len(part), func(from, to int) {
			var scratch scratch
			for i, at := range part[from:to] {
				if i%256 == 0 && ctx.Err() != nil {
					return
				}
				at.frames.sign(&scratch, at.stack, at.kind)
			}
		})
		from = to
	}
	if ctx.Err() != nil {
		return fmt.Errorf("analysis: %w", context.Cause(ctx))
	}
	for _, site := range sites {
		site.signature, site.blamed = site.placed.signatures[site.key.kind], site.placed.blame > 0
	}
	return nil
}

// fill takes the figures of a site.
func (s *series) fill(site *judgedSite, m *mergedSite, f *frames) {
	*site = judgedSite{mergedSite: m, frames: f, placed: &f.placed[m.stack], aliased: len(m.aliases) > 0,
		Amounts: amounts(m.usage), agreed: Amount{m.agreed.Count, m.agreed.Bytes},
		sample: sample{kind: m.key.kind, usage: m.usage}}
	if s.looked {
		site.unreachable = &Amount{m.unreachable.Count, m.unreachable.Bytes}
	}
	if len(m.lives) > 0 {
		site.takeLives(m, s.parts[m.part].Trace)
	} else {
		site.sample.amounts = site.Amounts
	}
}

// figures are the numbers of a site, without text.
func (s *judgedSite) figures() Site {
	out := Site{Signature: s.signature, Kind: s.key.kind.String(), Amounts: s.Amounts, Unreachable: s.unreachable,
		Verdict: s.verdict, Stack: s.placed.ref, TableSites: s.rows}
	if s.result.Scored() {
		out.Score = &s.result.Score
	}
	return out
}

// write adds the text of a site, whose stack is numbered.
func (s *judgedSite) write(out *Site, snapshots []Snapshot) {
	m, f := s.mergedSite, s.frames
	out.Heap, out.Flags, out.Series, out.Blame = s.heapHandle, []string{},
		make([]Point, len(m.usage)), f.blamed(m.stack)
	for i, u := range m.usage {
		out.Series[i] = Point{snapshots[i].AtNS, Amount{u.Count, u.Bytes}}
	}
	for _, trace := range m.traces {
		out.Traces = append(out.Traces, strings.ToUpper(strconv.FormatUint(trace, 16)))
	}
	for _, alias := range m.aliases {
		out.AliasStacks = append(out.AliasStacks, f.placed[alias].ref)
	}
	if len(out.AliasStacks) > 0 {
		out.Flags = append(out.Flags, FlagAmbiguous)
	}
	if f.isTruncated(m.stack) {
		out.Flags = append(out.Flags, FlagTruncated)
	}
	if f.keys.capture.Lines != nil {
		out.Flags = append(out.Flags, FlagLine)
	}
	if out.Stack == 0 {
		out.Flags = append(out.Flags, FlagNoStack)
	}
}

// isTruncated reports whether a stack ends because no more return addresses were recorded. At the old limit only a
// stack that does not end in the start of a thread counts.
func (f *frames) isTruncated(id capture.StackID) bool {
	depth := len(f.keys.capture.Stacks.Stack(id))
	if depth != oldDepthLimit {
		return depth >= depthLimit
	}
	rows := f.table.FrameNumbers(f.placed[id].ref)
	return f.table.marks[f.table.rows[rows[len(rows)-1]].mark].Layer != LayerBase
}
