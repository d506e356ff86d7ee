package outcome

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis/score"
)

// CommentMark is the first line of a comment, by which a job finds it again to update it. It differs by project and
// scenario.
func (o *Outcome) CommentMark() string {
	safe := func(s string) string { return strings.NewReplacer("--", "- -", ">", " ", "\n", " ").Replace(s) }
	return "<!-- heapdrift " + safe(o.Project) + " " + safe(o.Scenario) + " -->"
}

// maxShown is how many leaks Markdown lists: comments and summaries have a limit, and the page has them all.
const maxShown = 50

// gateMarks are the gates as people see them from afar.
var gateMarks = map[string]string{GatePassed: "✅ passed", GateFailed: "❌ failed", GateInconclusive: "❔ inconclusive",
	GatePending: "⏳ pending", GateError: "⚠ error"}

// Markdown writes a comment for a pull request, or a summary of a job.
func Markdown(w io.Writer, o *Outcome) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%s\n### heapdrift: %s %s\n\n", o.CommentMark(), mdText(strings.TrimSpace(o.Project+" "+o.Scenario)),
		cmp.Or(gateMarks[o.Gate], mdText(o.Gate)))
	fmt.Fprintf(b, "%s\n\n", mdText(o.Sentence))
	var facts []string
	if o.Build != "" {
		facts = append(facts, "build "+mdText(o.Build))
	}
	switch {
	case o.Baseline != "":
		facts = append(facts, "compared with build "+mdText(o.Baseline))
	case o.URL != "":
		facts = append(facts, "no baseline")
	}
	if o.Why != "" {
		facts = append(facts, "gate: "+mdText(o.Why))
	}
	if o.Code != "" {
		facts = append(facts, "code "+mdCode(o.Code))
	}
	if o.URL != "" {
		facts = append(facts, "[report]("+mdURL(o.URL)+")")
	}
	if len(facts) > 0 {
		fmt.Fprintf(b, "%s\n\n", strings.Join(facts, " · "))
	}
	for _, p := range o.Problems {
		fmt.Fprintf(b, "- ⚠ %s\n", mdText(p))
	}
	if len(o.Problems) > 0 {
		fmt.Fprintln(b)
	}
	writeLeaks(b, o)
	if o.RecordCommand != "" {
		fmt.Fprintf(b, "\nRecord evidence that decides: %s\n", mdCode(o.RecordCommand))
	}
	if o.KitURL != "" {
		fmt.Fprintf(b, "\n[Scripts](%s) record it on a machine without heapdrift.\n", mdURL(o.KitURL))
	}
	for _, fact := range []string{o.Matters, o.Power} {
		if fact != "" {
			fmt.Fprintf(b, "\n<sub>%s</sub>\n", mdText(fact))
		}
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("export: write markdown: %w", err)
	}
	return nil
}

// writeLeaks writes a table with a row for each leak, or for all that are lost together with these below.
func writeLeaks(b *bufio.Writer, o *Outcome) {
	var shown []*Leak
	improbable := 0
	for i := range o.Leaks {
		if l := &o.Leaks[i]; l.IsImprobable() {
			improbable++
		} else {
			shown = append(shown, l)
		}
	}
	rows := GroupByCause(shown)
	for i, row := range rows[:min(len(rows), maxShown)] {
		if i == 0 {
			fmt.Fprint(b, "| | Leak | Class | Growth | Since | Owner |\n| --- | --- | --- | ---: | --- | --- |\n")
		}
		below := ""
		if len(row) > 1 {
			fmt.Fprintf(b, "| %s | **%s**, %s, %s | %s | | | |\n", row[0].mark(), mdText(row[0].CauseGroup), mdText(row[0].Ratio), stacks(row),
				mdText(row[0].Class))
			below = "↳ "
		}
		for _, l := range row[:min(len(row), maxShown)] {
			l.writeRow(b, below)
		}
		if n := len(row) - maxShown; n > 0 {
			fmt.Fprintf(b, "| | ↳ %d more | | | | |\n", n)
		}
	}
	if n := len(rows) - maxShown; n > 0 {
		fmt.Fprintf(b, "\n%d more.\n", n)
	}
	if improbable > 0 {
		fmt.Fprintf(b, "\nNot listed: %s with a probability below %s.\n", quantity.Plural(improbable, "leak"),
			strconv.FormatFloat(100*score.LeastDoubt, 'f', -1, 64)+" %")
	}
}

// mark is the change of a leak as the table has it.
func (l *Leak) mark() string {
	word := l.Word()
	if l.Doubtful {
		word += ", not decided"
	}
	if l.Fails {
		word = "**" + word + "**"
	}
	return word
}

func (l *Leak) writeRow(b *bufio.Writer, below string) {
	word := l.mark()
	if below != "" {
		word = ""
	}
	name := mdCode(cmp.Or(l.Title, l.Signature))
	if l.URL != "" {
		name = "[" + name + "](" + mdURL(l.URL) + ")"
	}
	if place := l.FileLine(); place != "" {
		name += " " + mdText(place[strings.LastIndexAny(place, `\/`)+1:])
	}
	owner := strings.TrimSpace(l.Owner + " " + l.Ticket)
	if l.Known != "" {
		owner = strings.TrimSpace(owner + " known: " + l.Known)
	}
	fmt.Fprintf(b, "| %s | %s%s | %s | %s | %s | %s |\n", word, below, name, mdText(l.Class), mdText(l.Growth),
		mdText(l.FirstBad), mdText(owner))
}

// mdText makes a text safe in a paragraph or a cell: names from evidence are no markup, and call nobody.
func mdText(s string) string {
	s = strings.Join(strings.Fields(xmlText(s)), " ")
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", "&lt;", ">", "&gt;", "[", `\[`, "]", `\]`, "*", `\*`, "_", `\_`,
		"`", "\\`", "@", "@\u200b", "#", "&#35;", "&", "&amp;").Replace(s)
}

// mdCode prints a name as code. Its fence is longer than any backticks in the name, which would end it.
func mdCode(s string) string {
	s = strings.ReplaceAll(strings.Join(strings.Fields(xmlText(s)), " "), "|", `\|`)
	if !strings.Contains(s, "`") {
		return "`" + s + "`"
	}
	fence := "``"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return fence + " " + s + " " + fence
}

func mdURL(s string) string {
	return strings.NewReplacer(" ", "%20", "(", "%28", ")", "%29", "\n", "", "<", "%3C", ">", "%3E", "|", "%7C").Replace(s)
}
