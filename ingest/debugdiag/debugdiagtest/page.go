package debugdiagtest

import (
	"bytes"
	"fmt"
	"html"
	"strings"
)

// A page is the markup as it grows. Lines of it end in CR LF.
type page struct {
	*Report
	bytes.Buffer
	dump  *Dump
	order [3]int // of the rule, the dump and the section in it
}

func (p *page) f(format string, args ...any) { fmt.Fprintf(p, format, args...) }

// HTML is the page of the report.
func (r *Report) HTML() []byte {
	p := &page{Report: r}
	p.f("<!DOCTYPE html>\r\n<html><head><title>DebugDiag Analysis Report</title></head><body><div class=\"wrapper\">")
	p.summary()
	p.f("\r\n<div class=\"analysisDetailsSection\"><div class=\"sectionHeader mt40\"> Analysis Details </div><div id=\"analysisDetailsGroup\">")
	p.f("<div class=\"mt20\" data-debug-details=\"parent\" data-debug-rule=\"%s\" id=\"B1\"><div class=\"expandCollapseButton-expanded21x21\" id=\"btnB1\"></div>", r.Rule)
	p.f("<div class=\"groupTitle mt20 ml35\"><H1>%s</H1></div><div class=\"normalText group\" id=\"B1group\" >", r.Rule)
	for i := range r.Dumps {
		p.dump, p.order = &r.Dumps[i], [3]int{1, i + 1, 0}
		p.begin("dump", fmt.Sprintf("B1C%d", i+1), 1, "Report for "+p.dump.Name)
		p.details()
		p.end()
	}
	p.f("</div></div></div></div>\r\n")
	status := "Completed</td><td>&nbsp;"
	if r.Failure != "" {
		status = "Failed</td><td>" + r.Failure
	}
	p.f("<div class=\"analysisRuleSummarySection\" id=Table_Summary><table data-debug-type=\"table\" width=\"100%%\"><thead><tr class=\"gridheader\"><td class=\"gridheaderspacing\">Rule Name</td><td class=\"gridheaderspacing\">Status</td><td class=\"gridheaderspacing\">Details</td></tr></thead>")
	p.f("<tbody><tr class=\"gridrowspacing\" data-is-row=\"true\"><td>%s</td><td>%s</td></tr></tbody></table></div></div></body></html>", r.Rule, status)
	return p.Bytes()
}

func (p *page) summary() {
	p.f("<div class=\"analysisSummarySection\"><div class=\"sectionHeader\"> Analysis Summary </div>")
	for _, group := range []Group{GroupErrors, GroupWarnings, GroupInformations, GroupNotifications} {
		var rows strings.Builder
		for _, c := range p.Conclusions {
			if c.Group != group {
				continue
			}
			fmt.Fprintf(&rows, "<tr class=\"gridrowspacing\" data-is-row=\"true\" data-debug-dump=\"%s\" data-debug-rule=\"%s\"><td class=\"gridrowspacing\">%s</td><td class=\"gridrowspacing finaltd\">%s</td></tr>",
				c.Dump, p.Rule, c.Description, c.Recommendation)
		}
		if rows.Len() > 0 {
			p.f("<div class=\"summaryGroup mt20 normalText\" id=\"%sAnalysisSummarySection\"><div class=\"groupTitle summaryGroupLabel\"><img src=\"res/icon.png\"/> %s  </div><div class=\"group mt20\">", group, group)
			p.f("<table data-debug-type=\"table\" width=\"100%%\"><thead><tr class=\"gridheader\" data-is-header=\"true\"><td class=\"gridheaderspacing\">Description</td><td class=\"gridheaderspacing finaltd\">Recommendation</td></tr></thead><tbody>%s</tbody></table></div></div>", rows.String())
		}
	}
	p.f("</div>")
}

// begin opens a section; the third level has UIDs for ids, those below have their own before them.
func (p *page) begin(kind, id string, level int, title string) {
	p.f("<div class=\"mt20 %s\" data-debug-details=\"%s\" data-debug-rule=\"%s\" data-debug-dump=\"%s\" id=\"%s\">", kind,
		kind, p.Rule, p.dump.Name, id)
	p.f("<div class=\"groupTitle mt20 ml35\"><H%d>%s</H%d></div><div class=\"normalText group\" id=\"%sgroup\" >",
		level, title, level, id)
}

func (p *page) end() { p.f("</div></div>") }

// part opens a section of the third level.
func (p *page) part(title string) {
	p.order[2]++
	p.begin("custom", p.uid(), 2, title)
}

func (p *page) uid() string { return fmt.Sprintf("B%dC%dD%d", p.order[0], p.order[1], p.order[2]) }

// section opens a section of the fourth level with its body.
func (p *page) section(id, title string) {
	p.begin("custom", id+p.uid(), 3, title)
	p.f("<div class=\"mt10 ml15 normalText\">")
}

func (p *page) endSection() {
	p.f("</div>")
	p.end()
}

// facts writes labels with their values, which are markup.
func (p *page) facts(pairs ...string) {
	p.f("<table class=myCustomText ID=\"Table1\">\r\n")
	for i := 0; i < len(pairs); i += 2 {
		p.f("<tr>\r\n<td>%s</td>\r\n<td><b>&nbsp;&nbsp;%s</b></td>\r\n</tr>\r\n", pairs[i], pairs[i+1])
	}
	p.f("</table>\r\n")
}

// A bar is a line of a bar graph: caption and value are markup.
type bar struct {
	caption, value string
	length         int64
}

func (p *page) graph(level int, title string, bars []bar) {
	var captions, values, lengths strings.Builder
	longest := int64(1)
	for _, b := range bars {
		longest = max(longest, b.length)
	}
	for _, b := range bars {
		fmt.Fprintf(&captions, "<tr><td nowrap>\r\n%s</td></tr>\r\n", b.caption)
		fmt.Fprintf(&values, "<tr><td nowrap>\r\n%s<BR></td></tr>\r\n", b.value)
		fmt.Fprintf(&lengths, "<tr><td><div class=\"bargraph\" style='width:%d%%;'>&nbsp;<BR></div></td>\r\n</tr>\r\n",
			int(100*float64(b.length)/float64(longest)))
	}
	if title != "" {
		p.f("<br><br><h%d>%s</h%d>", level, title, level)
	}
	p.f("<table border=0><tr><td><table border=0>\r\n%s</table></td>\r\n<td><table border=0 >\r\n%s</table></td><td><table width=400 border=0 >\r\n%s</table></td>\r\n</tr></table>\r\n", captions.String(), values.String(), lengths.String())
}

func (p *page) details() {
	p.f("<div class=\"mt10 ml15 normalText\">")
	var pairs []string
	for _, f := range p.dump.Facts {
		pairs = append(pairs, f[0], html.EscapeString(f[1]))
	}
	p.facts(pairs...)
	p.f("</div>")
	if p.dump.Space != nil || len(p.dump.Threads) > 0 {
		p.space()
	}
	if len(p.dump.Heaps) > 0 {
		p.heaps()
	}
	if p.dump.LeakTrack != "" {
		p.leaks()
	}
}
