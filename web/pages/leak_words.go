package pages

import (
	"fmt"
	"math"
	"net/url"
	"strings"

	"github.com/a-h/templ"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/score"
)

// A scoreWord is a probability as people say it, with the number for those who want it.
type scoreWord struct{ word, class, exact string }

// wordOfScore puts a score in a word. certain is a leak by every clause of the rule.
func wordOfScore(p *float64, certain bool) scoreWord {
	if p == nil {
		return scoreWord{"–", "low", "nothing can be said of it yet"}
	}
	exact := fmt.Sprintf("%.2f: how probable the model holds a leak to be", *p)
	switch {
	case certain:
		return scoreWord{"certain", "high", exact + "; every clause of the rule is met"}
	case *p >= 0.9:
		return scoreWord{"very likely", "high", exact}
	case *p >= 0.5:
		return scoreWord{"likely", "high", exact}
	case *p >= 0.2:
		return scoreWord{"doubtful", "low", exact}
	}
	return scoreWord{"unlikely", "low", exact}
}

// rateChange is a growth per unit of the axis.
func rateChange(bytes float64, unit string) change {
	if unit == "" || math.IsNaN(bytes) || math.IsInf(bytes, 0) {
		return change{"flat", "–", "no growth to speak of"}
	}
	whole := int64(math.Round(bytes))
	return changeOf(whole, analysis.Bytes(whole)+"/"+unit, exactBytes(whole)+" per "+unit)
}

// rateOf is the growth of a finding, with its interval in the full text.
func rateOf(r *score.Rate) change {
	if r == nil {
		return change{"flat", "–", "no growth to speak of"}
	}
	c := rateChange(r.Bytes, r.Unit)
	c.exact = fmt.Sprintf("%s; 95 %% between %s and %s, %.4g blocks (%.4g to %.4g) per %s", c.exact,
		analysis.Bytes(int64(math.Round(r.BytesLow))), analysis.Bytes(int64(math.Round(r.BytesHigh))), r.Count, r.CountLow, r.CountHigh, r.Unit)
	return c
}

// A leakTitle is the title of a signature cut for a table: whose memory it is, and by what it came there.
type leakTitle struct {
	whole string
	name  functionName // the frame to blame
	via   string       // what stands before it in the title: origin and plumbing
}

// titleOf cuts "origin via plumbing | blame".
func titleOf(title string) leakTitle {
	t := leakTitle{whole: title}
	blame := title
	if at := strings.LastIndex(title, " | "); at >= 0 {
		t.via, blame = title[:at], title[at+len(" | "):]
	}
	t.name = nameOf(blame)
	if module, offset, found := strings.Cut(blame, "!<unknown>+"); found { // offset and, behind @, the build
		offset, _, _ = strings.Cut(offset, "@")
		t.name = functionName{name: module + "+" + offset, unresolved: true}
	}
	return t
}

// A clauseLine is a condition of the rule with the sign it gets.
type clauseLine struct{ class, sign, says, text string }

func lineOfClause(c score.Clause) clauseLine {
	switch {
	case c.Holds == nil:
		return clauseLine{"open", "open", "open: ", c.Text}
	case *c.Holds:
		return clauseLine{"holds", "ok", "met: ", c.Text}
	}
	return clauseLine{"fails", "bad", "not met: ", c.Text}
}

// stateShapes draw what the team knows of a signature.
var stateShapes = map[string]string{
	"new":       "M6 2v8 M2 6h8",
	"ongoing":   "M2 6h8 M7 3l3 3-3 3",
	"regressed": "M10 4A4.5 4.5 0 1 0 10.5 6.5 M10 1v3H7",
	"known":     "M2 6.5 5 9.5 10 3",
	"fixed":     "M3 3l6 6 M9 3l-6 6",
}

// stateNotes say what the states mean.
var stateNotes = map[string]string{
	"new":       "seen leaking in one build only",
	"ongoing":   "leaks since an earlier build",
	"regressed": "was fixed, and leaks again in a newer build",
	"known":     "tolerated for a reason: it fails no gate",
	"fixed":     "a build that exercised it did not leak",
}

func signatureURL(project, signature string) templ.SafeURL {
	return projectURL(project) + templ.SafeURL("/signatures/"+url.PathEscape(signature))
}
