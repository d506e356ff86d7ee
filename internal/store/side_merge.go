package store

import (
	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/compare"
)

// merging merges findings of one signature: those of its parts in one run to their sum, those of several runs to the largest.
type merging struct {
	side *compare.Side
	at   map[int64]int // place in side.Findings, by signature

	run   int64 // whose findings are being added
	parts map[int64]compare.Finding
	order []int64 // of parts
}

// add takes a finding of a run; those of one run come together.
func (m *merging) add(run, signature int64, f compare.Finding) {
	if run != m.run {
		m.close()
		m.run, m.parts = run, map[int64]compare.Finding{}
	}
	part, ok := m.parts[signature]
	if !ok {
		m.order = append(m.order, signature)
		m.parts[signature] = f
		return
	}
	m.parts[signature] = joined(part, f)
}

// close merges the run that was added with those before.
func (m *merging) close() {
	for _, signature := range m.order {
		f := m.parts[signature]
		if k, ok := m.at[signature]; ok {
			m.side.Findings[k] = larger(m.side.Findings[k], f)
			continue
		}
		m.at[signature] = len(m.side.Findings)
		m.side.Findings = append(m.side.Findings, f)
	}
	m.order = m.order[:0]
}

// judged gives a finding the graver judgement of two.
func judged(into *compare.Finding, a, b *compare.Finding) {
	into.Class, into.Score, into.Certain = a.Class, a.Score, a.Certain || b.Certain
	if b.Class.Gravity() > a.Class.Gravity() {
		into.Class = b.Class
	}
	if b.Score != nil && (a.Score == nil || *b.Score > *a.Score) {
		into.Score = b.Score
	}
}

// joined are two parts of one signature in one run.
func joined(a, b compare.Finding) compare.Finding {
	f := a
	judged(&f, &a, &b)
	f.Outstanding = sum(a.Outstanding, b.Outstanding)
	switch {
	case a.Growth != nil && b.Growth != nil:
		growth := sum(*a.Growth, *b.Growth)
		f.Growth = &growth
	case a.Growth == nil:
		f.Growth = b.Growth
	}
	if a.Allocated >= 0 && b.Allocated >= 0 {
		f.Allocated += b.Allocated
	} else {
		f.Allocated = max(a.Allocated, b.Allocated)
	}
	switch a.RateUnit {
	case "":
		f.RateUnit, f.RateBytes, f.RateCount, f.Exposure, f.Dispersion = b.RateUnit, b.RateBytes, b.RateCount, b.Exposure, b.Dispersion
	case b.RateUnit:
		f.RateBytes, f.RateCount, f.Dispersion = a.RateBytes+b.RateBytes, a.RateCount+b.RateCount, max(a.Dispersion, b.Dispersion)
	}
	return f
}

// larger are the larger figures of one signature in two runs.
func larger(a, b compare.Finding) compare.Finding {
	f := a
	judged(&f, &a, &b)
	if b.Outstanding.Bytes > a.Outstanding.Bytes {
		f.Outstanding = b.Outstanding
	}
	if b.Growth != nil && (a.Growth == nil || b.Growth.Bytes > a.Growth.Bytes) {
		f.Growth = b.Growth
	}
	f.Allocated = max(a.Allocated, b.Allocated)
	if a.RateUnit == "" && b.RateUnit != "" || a.RateUnit == b.RateUnit && b.RateBytes > a.RateBytes {
		f.RateUnit, f.RateBytes, f.RateCount, f.Exposure, f.Dispersion = b.RateUnit, b.RateBytes, b.RateCount, b.Exposure, b.Dispersion
	}
	return f
}

func sum(a, b analysis.Amount) analysis.Amount {
	return analysis.Amount{Count: a.Count + b.Count, Bytes: a.Bytes + b.Bytes}
}
