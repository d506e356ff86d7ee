package debugdiag

import (
	"slices"
	"strings"

	"heapdrift/ingest/capture"
)

// maxDumps bounds the dumps of a report.
const maxDumps = 1024

// A report decides for each part of the page which dump it is about and what it tells. The draft of the dump does the
// rest.
type report struct {
	page    page
	drafts  []*draft
	byDump  map[string]*draft
	current *draft
	open    []scope
	loose   topic // by the last title, where no section says it
	ranking ranking
	hooked  bool // sections were met: DebugDiag 2.x
	version string
	general []capture.Note // of no dump
	failed  []string       // rules that did not complete

	cut     int64 // cells, texts and tables that were too large
	foreign int64 // texts in an unknown code page
}

// A scope is an open section.
type scope struct {
	topic
	draft *draft
	rule  string
}

func newReport() *report {
	r := &report{byDump: map[string]*draft{}}
	r.page.out = r
	return r
}

// draftOf finds or makes the draft of a dump, by its file name.
func (r *report) draftOf(dump string) *draft {
	dump = dump[strings.LastIndexAny(dump, `\/`)+1:]
	if d := r.byDump[strings.ToLower(dump)]; d != nil {
		return d
	}
	if len(r.drafts) == maxDumps {
		r.cut++
		return r.drafts[maxDumps-1]
	}
	d := newDraft(dump)
	r.drafts, r.byDump[strings.ToLower(dump)] = append(r.drafts, d), d
	return d
}

// here is the draft that facts belong to.
func (r *report) here() *draft {
	if r.current == nil {
		r.current = r.draftOf("")
	}
	return r.current
}

// topic is what the page is about where it has arrived.
func (r *report) topic() topic {
	if r.loose != topicNone {
		return r.loose
	}
	for _, s := range slices.Backward(r.open) {
		switch s.topic {
		case topicNone: // that of the section around it
		case topicDump:
			if s != r.open[len(r.open)-1] {
				return topicNone // the facts of a section that is not known are none of the process
			}
			return topicDump
		default:
			return s.topic
		}
	}
	return topicNone
}

// repeated reports whether the section is of a rule that comes after another one which reported of the same dump.
func (r *report) repeated() bool {
	if r.topic() <= topicDump || r.current == nil {
		return false
	}
	if r.current.rule == nil {
		rule := r.rule()
		r.current.rule = &rule
	}
	return *r.current.rule != r.rule()
}

func (r *report) rule() string {
	if n := len(r.open); n > 0 {
		return r.open[n-1].rule
	}
	return ""
}

func (r *report) startSection(s section) {
	scope := scope{topic: sectionTopic(s.id), rule: s.rule}
	if s.kind != "" {
		r.hooked = true
	}
	if s.dump != "" && s.kind != "" {
		r.current = r.draftOf(s.dump)
		if scope.draft = r.current; strings.EqualFold(s.kind, "dump") {
			scope.topic = topicDump
			r.current.begun = true
		}
	}
	r.loose, r.ranking = topicNone, rankNone
	r.open = append(r.open, scope)
	if scope.draft != nil {
		scope.draft.leave()
	}
}

func (r *report) endSection(s section, whole bool) {
	last := r.open[len(r.open)-1]
	r.open = r.open[:len(r.open)-1]
	r.loose, r.ranking = topicNone, rankNone
	if whole && last.draft != nil && strings.EqualFold(s.kind, "dump") {
		last.draft.ended = true
	}
}

// heading takes a title; name is that of the anchor before it.
func (r *report) heading(text, name string) {
	r.ranking = rankingOf(text)
	if dump := reportFor(text); dump != "" {
		if r.current == nil || !r.hooked {
			r.current, r.loose = r.draftOf(dump), topicDump
		}
		return
	}
	if address, heap, ok := heapTitle(text); ok {
		if r.repeated() {
			return
		}
		if at, width, ok := parseAddress(address); ok {
			r.here().startHeap(capture.Address(at), heap)
			r.here().address(at, width)
		}
		return
	}
	if t := titleTopic(text); t != topicNone {
		if n := len(r.open); n > 0 && (r.open[n-1].topic == topicNone || r.open[n-1].topic == t) {
			r.open[n-1].topic = t
		} else {
			r.loose = t
		}
	}
	if rest, ok := strings.CutPrefix(text, "Module details for "); ok && !r.repeated() {
		r.here().startModule(rest, name, r.topic() == topicLeakHandles)
	}
}

// paragraph takes text outside of tables.
func (r *report) paragraph(text string) {
	if r.repeated() {
		return
	}
	if v := leakTrackVersion(text); v != "" {
		r.here().leakTrack = v
		return
	}
	if title := sampleTitle(text); title != "" {
		r.here().startSample(title)
		return
	}
	if v := toolVersion(text); v != "" {
		r.version = v
		return
	}
	_, _, isHeap := heapTitle(text)
	isTitle := isHeap || reportFor(text) != "" || rankingOf(text) != rankNone || titleTopic(text) != topicNone
	if len(text) < 120 && isTitle {
		r.heading(text, "") // titles of 1.x are bold text
	}
}

// table takes a table that is no part of a bar graph.
func (r *report) table(t *table) {
	switch kind := kindOf(&t.header); {
	case r.repeated():
	case r.topic() == topicErrors, r.topic() == topicWarnings, r.topic() == topicInformation, kind == tableSummary:
		r.summary(t)
	case kind == tableRules || r.topic() == topicRules:
		r.rules(t)
	case kind == tableStack:
		r.here().addFrames(t)
	case kind == tableThreads:
		r.here().addThreads(t)
	case kind == tableSegments: // the heap's own figures say as much
	default:
		for i := range t.rows {
			r.fact(&t.rows[i])
		}
		r.here().endFacts()
	}
}

// rules takes the summary of the rules: those that failed have told nothing, or not all.
func (r *report) rules(t *table) {
	for i := range t.rows {
		row := &t.rows[i]
		status := strings.ToLower(row.text(1))
		if strings.EqualFold(row.text(0), "Rule Name") || status == "" || strings.HasPrefix(status, "completed") ||
			strings.HasPrefix(status, "succe") {
			continue
		}
		r.failed = append(r.failed, strings.TrimSpace(row.text(0)+": "+row.text(1)+" "+row.text(2)))
	}
}
