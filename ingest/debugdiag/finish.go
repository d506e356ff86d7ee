package debugdiag

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/quantity"
	"heapdrift/ingest/sorting"
)

// finish makes the captures, of what was read until now.
func (r *report) finish() []*capture.Capture {
	var drafts []*draft
	for _, d := range r.drafts {
		if d.hasFacts || d.begun {
			drafts = append(drafts, d)
		}
	}
	unended := -1
	if !r.page.ended {
		unended = len(drafts) - 1
	}
	var done []*capture.Capture
	for i, d := range drafts {
		d.finish(r)
		r.warnReport(d, !r.page.ended && (!d.ended || i == unended))
		done = append(done, d.c)
	}
	return done
}

func (d *draft) finish(r *report) {
	c, m := d.c, d.memory
	c.Memory = m
	m.Source = strings.TrimSpace("DebugDiag " + r.version)
	d.process()
	c.Snapshots = []capture.Snapshot{{TakenAt: d.writtenAt}}
	if !d.name.taken.IsZero() {
		c.Snapshots[0].TakenAt = d.name.taken
	}
	d.reconcile()
	d.makeModules()
	d.makeSites()
	m.Space, m.Groups = d.space(), d.groups()
	sorting.Stable(m.Handles, func(a, b capture.HandleType) int { return cmp.Compare(b.Count, a.Count) })
	m.Notes = append(m.Notes, r.general...)
	d.noteTracking()
	d.noteMethod(r)
	d.warnSizes()
}

// process fills in what the name of the dump, and the addresses, say of the process.
func (d *draft) process() {
	p := &d.c.Process
	if p.Name == "" {
		p.Name = d.name.image
	}
	if p.PID == 0 {
		p.PID = d.name.pid
	}
	switch {
	case p.Bits != 0:
	case d.wide || d.free.low > space32:
		p.Bits = 64
	case d.narrow:
		p.Bits = 32
	}
}

// makeModules tells the modules. A base is told where the extent is known, which is a whole number of pages.
func (d *draft) makeModules() {
	const pageSize = 4096
	at := map[string]int{}
	for i := range d.modules {
		m := &d.modules[i]
		known := capture.Module{Path: cmp.Or(m.path, m.name), PDB: m.pdb[strings.LastIndexAny(m.pdb, `\/`)+1:]}
		if size := (m.size.low + pageSize - 1) / pageSize * pageSize; m.base != 0 && size > 0 && size <= m.size.high &&
			size+pageSize > m.size.high {
			known.Base, known.Size = m.base, uint64(size)
		}
		key := strings.ToLower(m.name)
		if before, found := at[key]; found { // its handles, after its allocations
			if d.c.Modules[before].Size == 0 && known.Size > 0 {
				d.c.Modules[before] = known
			}
			continue
		}
		at[key] = len(d.c.Modules)
		d.c.Modules = append(d.c.Modules, known)
		if m.version != "" || m.company != "" {
			d.note(capture.TopicProcess,
				strings.Join(slices.DeleteFunc([]string{known.Path, m.version, m.company},
					func(s string) bool { return s == "" }), ", "))
		}
	}
}

// maxTotal bounds what all sites together hold, in bytes: more is no process's.
const maxTotal = 1 << 62

// makeSites makes a site of each function that allocated memory, and a claim of each function.
func (d *draft) makeSites() {
	c := d.c
	sorting.Stable(d.functions, func(a, b function) int {
		if a.handles != b.handles {
			if a.handles {
				return 1
			}
			return -1
		}
		return cmp.Or(cmp.Compare(b.bytes.at, a.bytes.at), cmp.Compare(b.count, a.count))
	})
	heaps := map[uint64]int32{}
	var total int64 // of the sites, in bytes
	var scratch []capture.FrameID
	for i := range d.functions {
		f := &d.functions[i]
		claim := d.claim(f, scratch)
		d.memory.Claims = append(d.memory.Claims, claim)
		if f.handles {
			continue
		}
		if total += claim.Usage.Bytes; total > maxTotal {
			total -= claim.Usage.Bytes
			d.dropped++
			continue
		}
		site := capture.Site{Stack: claim.Stack, Heap: capture.NoHeap, Usage: []capture.Usage{claim.Usage}}
		if strings.Contains(strings.ToLower(f.kind), "virtual") {
			site.Kind = capture.KindVirtual
		}
		if f.heaped {
			at, known := heaps[f.heap]
			if !known {
				at = int32(len(c.Heaps))
				heaps[f.heap] = at
				c.Heaps = append(c.Heaps, capture.Heap{Handle: f.heap})
			}
			site.Heap = at
		}
		c.Sites = append(c.Sites, site)
	}
	c.Shape = capture.ShapeFacts
	if len(c.Sites) > 0 {
		c.Shape = capture.ShapeSnapshot
	}
}

// noteTracking says what LeakTrack's numbers mean.
func (d *draft) noteTracking() {
	if d.leakTrack == "" && d.tracked == "" && d.total.count < 0 && len(d.functions) == 0 {
		return
	}
	text := "LeakTrack"
	if d.leakTrack != "" {
		text += " " + d.leakTrack
	}
	text += " shows only allocations after its injection"
	if d.tracked != "" {
		if duration, doubtful, ok := parseDuration(d.tracked); ok {
			text += fmt.Sprintf(", %d seconds before the dump", int64(duration.Seconds()))
			if doubtful {
				text += " or a day earlier"
			}
		}
		text += "; tracking duration: " + d.tracked
	}
	d.note(capture.TopicLeakTrack,
		text+". LeakTrack records no call stacks in its warm-up (15 minutes by default).")
	if d.total.count >= 0 {
		text := quantity.Plural(d.total.count, "allocation")
		if d.total.size != (span{}) {
			text += fmt.Sprintf(" of %s", quantity.Bytes(d.total.size.at))
			if margin := d.total.size.margin(); margin > 0 {
				text += fmt.Sprintf(" (± %s)", quantity.Bytes(margin))
			}
		}
		if d.total.handles >= 0 {
			text += " and " + quantity.Plural(d.total.handles, "handle")
		}
		d.note(capture.TopicLeakTrack, "Held in total: "+text+".")
	}
}

// noteMethod says how the figures were made, where that matters.
func (d *draft) noteMethod(r *report) {
	bare, rounded := int64(0), false
	for i := range d.functions {
		if f := &d.functions[i]; len(f.samples) == 0 {
			bare++
		}
		rounded = rounded || d.functions[i].bytes.margin() > 0
	}
	if rounded {
		d.note(capture.TopicMethod,
			"DebugDiag rounds sizes to two decimals of their unit. Each figure has its rounding error.")
	}
	switch n := int64(len(d.functions)); {
	case n == 0:
	case bare == n && d.frames == 0:
		d.warn(capture.NoStacks, n,
			"Choose \"Begin recording call stacks immediately\" in the leak rule, or track longer than 15 minutes: the report has no call stack, only functions.")
	case bare > 0:
		d.note(capture.TopicMethod,
			fmt.Sprintf("%d of %d functions have no call stack sample, only their own frame.", bare, n))
	}
	if d.heaps.known() && d.heaps.regions > 0 && len(d.memory.Heaps) == 0 {
		d.note(capture.TopicInfo, "The report has only the sums of "+quantity.Plural(d.heaps.regions, "heap")+".")
	}
	if !r.hooked {
		d.note(capture.TopicMethod,
			"The report lacks the markup of DebugDiag 2. Its figures were found by their labels.")
	}
}
