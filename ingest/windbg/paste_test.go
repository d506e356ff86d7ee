package windbg_test

import (
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/windbg"
)

// each is a pasting that changes every line of a log.
func each(form func(n int, line string) string) func(string) string {
	return func(log string) string {
		lines := strings.Split(strings.TrimSuffix(log, "\n"), "\n")
		for i, line := range lines {
			lines[i] = form(i, line)
		}
		return strings.Join(lines, "\n") + "\n"
	}
}

func before(prefix string) func(string) string {
	return each(func(_ int, line string) string { return prefix + line })
}

// pastings are the ways in which people hand on what the debugger printed.
var pastings = map[string]func(string) string{
	"a mail":                 before("> "),
	"a mail, answered twice": before(">> > "),
	"a mail, tight":          before(">"),
	"bars":                   before("| "),
	"comments of C":          before("// "),
	"comments of C, tight":   before("//"),
	"a block comment":        before(" * "),
	"a shell":                before("# "),
	"SQL":                    before("-- "),
	"SQL, tight":             before("--"),
	"assembler":              before("; "),
	"batch":                  before("REM "),
	"a block of code":        before("    "),
	"a tab":                  before("\t"),
	"a time": each(func(n int, line string) string {
		return fmt.Sprintf("12:34:%02d.%03d %s", n%60,
			n%1000, line)
	}),
	"a time in brackets": each(func(n int, line string) string { return fmt.Sprintf("[12:34:%02d] %s", n%60, line) }),
	"date and time": each(func(n int, line string) string {
		return fmt.Sprintf("2024-03-05 10:20:%02d,%03d %s", n%60, n%1000, line)
	}),
	"date and time of ISO": each(func(n int, line string) string {
		return fmt.Sprintf("2024-03-05T10:20:%02d.1234567Z %s", n%60, line)
	}),
	"Windows ends":           func(log string) string { return strings.ReplaceAll(log, "\n", "\r\n") },
	"doubled ends":           func(log string) string { return strings.ReplaceAll(log, "\n", "\n\n") },
	"a fence":                func(log string) string { return "It grows:\n\n```\n" + log + "```\n\nWhat is it?\n" },
	"a fence in a quotation": func(log string) string { return before("> ")("```text\n" + log + "```\n") },
	"BBCode":                 func(log string) string { return "[code]" + log + "[/code]\n" },
	"a wiki":                 func(log string) string { return "{code}\n" + log + "{code}\n" },
	"hard blanks":            func(log string) string { return strings.ReplaceAll(log, "  ", "\u00a0 ") },
	"long dashes": func(log string) string {
		return strings.ReplaceAll(log, "-----",
			"\u2014\u2014\u2014\u2014\u2013")
	},
	"markdown": func(log string) string {
		return strings.NewReplacer("_", `\_`, "*", `\*`,
			">", `\>`).Replace(log)
	},
	"invisible characters": func(log string) string {
		return "\ufeff" +
			strings.ReplaceAll(log, "0:000> ", "\u200b0:000> ")
	},
	"colours":        each(func(_ int, line string) string { return "\x1b[0;32m" + line + "\x1b[0m" }),
	"numbered lines": each(func(n int, line string) string { return fmt.Sprintf("%3d | %s", n+1, line) }),
	"a page": func(log string) string {
		return "<!DOCTYPE html><html><head><style>p > b {}</style></head><body><p>It grows &mdash; see:</p><pre>" +
			html.EscapeString(log) + "</pre></body></html>"
	},
	"a page with breaks": func(log string) string {
		return "<html><body><p>" + strings.ReplaceAll(strings.ReplaceAll(html.EscapeString(log), "\n", "<br>"), "  ",
			" &nbsp;") + "</p></body></html>"
	},
	"a page in one line": func(log string) string {
		return "<html><body><div>" + strings.ReplaceAll(html.EscapeString(log), "\n", "</div><div>") + "</div></body></html>"
	},
	"paragraphs of a word processor": func(log string) string {
		lines := strings.Split(strings.TrimSuffix(html.EscapeString(log), "\n"), "\n")
		return "<html><body>\n<p class=MsoNormal>" + strings.Join(lines, "<o:p></o:p></p>\n<p class=MsoNormal>") +
			"</p>\n</body></html>"
	},
	"a fragment": func(log string) string { return strings.ReplaceAll(html.EscapeString(log), "\n", "<br />\n") },
	"a highlighter": func(log string) string {
		return "<table><tr><td class=\"gutter\"><pre>1\n2\n3\n</pre></td><td class=\"code\"><pre>" +
			strings.ReplaceAll(html.EscapeString(log), "heap", "<span class=\"k\">heap</span>") + "</pre></td></tr></table>"
	},
}

var place = regexp.MustCompile(`, (line \d+)?\): `)

// shown is what a log says, without the places of lines, which pasting moves.
func shown(captures []*capture.Capture) string {
	return place.ReplaceAllString(renderAll(captures), "): ")
}

// A log gives the same captures however it is pasted.
func TestPastings(t *testing.T) {
	for name, text := range cases {
		_, log, _ := strings.Cut(text, "\n=\n")
		if !strings.HasSuffix(log, "\n") {
			continue // a log that is cut says so, and pasting closes its last line
		}
		want := shown(read(t, log))
		for form, paste := range pastings {
			in := paste(log)
			captures, err := windbg.Read(t.Context(), strings.NewReader(in))
			if got := shown(captures); err != nil || got != want {
				t.Errorf("%s, as %s: %v\n%s", name, form, err, difference(got, want))
			}
			if !windbg.Sniff([]byte(in)) && windbg.Sniff([]byte(log)) {
				t.Errorf("%s, as %s: not recognised", name, form)
			}
		}
	}
}

// Unknown marks before the lines of a log are learned from the text that follows them.
func TestLearnedMarks(t *testing.T) {
	p := invent(5, 4, 0)
	log := p.summary() + p.sizes()
	want := shown(read(t, log))
	for _, form := range []func(int, string) string{
		func(_ int, line string) string { return "JS> " + line },
		func(_ int, line string) string { return "WinDbg: " + line },
		func(n int, line string) string { return fmt.Sprintf("[%d] INFO  %s", 4000+n, line) },
		func(n int, line string) string { return fmt.Sprintf("log.txt:%d: %s", n+1, line) },
		func(n int, line string) string { return fmt.Sprintf("%d  %s", n+1, line) },
	} {
		if got := shown(read(t, each(form)(log))); got != want {
			t.Errorf("%s\n%s", form(1, "…"), difference(got, want))
		}
	}
}

// Markup inside strings of the program does not hide the rest of a log.
func TestMarkupInStrings(t *testing.T) {
	p := invent(9, 3, 0)
	for _, text := range []string{"<script>", "<!--", "<tr>", "</div>", "<style>", "<br>", "<p>", "</span><td>", "<pre>"} {
		log := p.summary() + "0:000> da 1000\n00001000  \"" + text + "</p>\"\n" +
			strings.Repeat("0:000> dd 0\n", 70) + p.sizes()
		if c := read(t, log); len(c) != 1 || len(c[0].Memory.Heaps) != 3 || len(c[0].Memory.Groups) == 0 {
			t.Errorf("%s hides what follows: %d captures", text, len(c))
		}
	}
}

// Very long lines, whatever marks they consist of, do not hide the outputs around them.
func TestLongLines(t *testing.T) {
	p := invent(2, 2, 0)
	for _, junk := range []string{"<", "> ", "| ", "&#", "<b ", "<!--", "\\", "`", "*", "[", "\x1b[", "<p", "12:34 ",
		"\u2014", "0:000", "<script>"} {
		long := strings.Repeat(junk, 60<<10/len(junk))
		captures, err := windbg.Read(t.Context(),
			strings.NewReader(p.summary()+long+"\n"+strings.Repeat(long, 3)+"\n"+p.sizes()))
		if err != nil || len(captures) == 0 || len(captures[0].Memory.Heaps) != 2 {
			t.Errorf("%q: %d captures, %v", junk, len(captures), err)
		}
		if junk != "<!--" && junk != "<script>" &&
			!slices.ContainsFunc(captures, func(c *capture.Capture) bool { return len(c.Memory.Groups) > 0 }) {
			t.Errorf("%q: what follows is lost", junk)
		}
	}
}
