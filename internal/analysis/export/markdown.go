package export

import (
	"strings"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis"
)

// markdown writes a report for a pull request or a job summary.
func markdown(p *printer, r *analysis.Report, opt Options) {
	p.line("**%s** %s", cell(title(r)), cell(r.Verdict.Sentence))
	if r.Verdict.MattersSentence != "" {
		p.line("")
		p.line("%s.", cell(r.Verdict.MattersSentence))
	}
	p.line("")
	markdownCompared(p, r, opt)
	markdownReported(p, r, opt)
	markdownFindings(p, r, opt)
	p.line("| | Where | Growth | Blocks | Now | Class |")
	p.line("| ---: | --- | ---: | ---: | ---: | --- |")
	shown, left := top(r, opt)
	for i := range shown {
		s := &shown[i]
		growth, count := "–", "–"
		if s.Growth != nil {
			grown := s.GrowthBeforeExit()
			growth, count = change(grown.Bytes), changeCount(grown.Count)
		}
		now := quantity.Bytes(s.Outstanding.Bytes)
		if _, ended := s.HeldBeforeExit(); ended {
			now = heldNote(&s.Amounts)
		}
		p.line("| %d | %s | %s | %s | %s | %s |", i+1, code(s.Where()), growth, count, now, s.Verdict)
	}
	if left > 0 {
		p.line("")
		p.line("%s.", quantity.Plural(left, "more site"))
	}
	for i, w := range r.Warnings {
		if i == 0 {
			p.line("")
		}
		p.line("- ⚠ %s", cell(WarningText(w)))
	}
}

// cell makes text safe inside a table cell and a paragraph: names from evidence are not markup.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "\r", " ", "<", "&lt;", ">", "&gt;", "[", `\[`, "]", `\]`, "*", `\*`,
		"_", `\_`, "`", "\\`").Replace(s)
}

// code prints a name as code; a longer fence lets it hold backticks, as in `anonymous namespace'.
func code(s string) string {
	s = strings.NewReplacer("|", `\|`, "\n", " ", "\r", " ").Replace(s)
	if strings.Contains(s, "`") {
		return "`` " + s + " ``"
	}
	return "`" + s + "`"
}
