package analysis

import (
	"fmt"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis/score"
)

// ruleManySites is the rule of the clause that says why a leak is not certain among many sites.
const ruleManySites = "many-sites"

// chances counts the findings of a report that could look like a leak by chance.
func (d *draft) chances() (n int) {
	for _, f := range d.findings {
		if f.Evidence != nil || f.most > 0 {
			n++
		}
	}
	return n
}

// doubtAmongMany takes certainty from leaks that are not sure enough for the number of sites of the run: of many
// innocents, one looks like a leak.
func (d *draft) doubtAmongMany() {
	n := d.chances()
	for _, f := range d.findings {
		if !f.Certain || f.Verdict != ClassLeak || f.Evidence == nil || f.Evidence.CertainAmong(n) {
			continue
		}
		f.Certain = false
		f.Clauses = append(f.Clauses, score.Clause{Rule: ruleManySites, Holds: new(false),
			Text: fmt.Sprintf("Not certain in this run: of %s that keep memory, one may look like this without a leak.",
				quantity.Plural(n, "site"))})
	}
}
