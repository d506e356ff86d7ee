package main

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

// Each text that breaks a rule stands before one that says the same and keeps all rules.
func TestRules(t *testing.T) {
	cases := []struct {
		rule          rule
		role          role
		before, after string
	}{
		{ruleWord, prose, "of generated stacks that look like this above 99 % leaked",
			"In tests on generated programs, more than 99 % of such sites were leaks."},
		{ruleWord, prose, "its rises are as steady as the work of the process", "It grows in step with the process’s work."},
		{ruleWord, prose, "those that stay came as steadily as time", "Blocks that stay were allocated at a steady rate."},
		{ruleWord, prose, "30 % of the blocks that stay came in the last 30 % of the work",
			"Still leaking at the end: 30 % of the leaked blocks came in the last 30 % of the work."},
		{ruleWord, prose, "it takes 2 more snapshots of the same process to tell a leak, and 7 to be certain",
			"Take 2 more snapshots of this process to detect leaks, 7 more to be certain."},
		{ruleWord, prose, "one dump alone proves no leak; 3 dumps of the process that agree do, or 10 snapshots that show it grow",
			"One dump is not proof. Take 2 more dumps of this process, or 10 snapshots."},
		{ruleWord, prose, "nothing keeps growing over 11 snapshots", "No site keeps growing over 11 snapshots."},
		{ruleSentence, prose, "would have shown, in 9 of 10 runs, a steady leak of 110 blocks per hour or more (120 KB in blocks of the average size)",
			"Would detect a steady leak of 110 blocks/hour (about 120 KB/hour) or faster with 90 % probability."},
		{ruleWord, prose, "leaks by itself, and 2 other runs of the scenario do not bear it out: growing",
			"Leaks in this run; 2 other runs of the scenario do not confirm it."},
		{ruleWord, prose, "3 runs of this scenario together (builds 1 and 2): leaks in 1, grows in 2 by itself",
			"Pooled over 3 runs of builds 1–2: leak in 1, growing in 2."},
		{ruleWord, prose, "nothing of it is in build 12, though its callers ran", "Gone in build 12; its callers ran."},
		{ruleWord, prose, "588 KB at stake · 4 modules with nothing at stake",
			"Unresolved: 588 KB · 4 modules without effect on this report"},
		{ruleWord, prose, "first seen bad in build 4812; no older build is known to have been clean, so it may be older",
			"First seen in 4812. No older build was tested for it."},
		{ruleWord, prose, "changes are recorded as somebody’s", "Changes are logged without a name (log in to be named)."},
		{ruleWord, prose, "Nothing is silenced, and no recent verdict changes",
			"No leak becomes known and no recent verdict changes."},
		{ruleWord, prose, "the server failed to do this; its log says why",
			"Internal error in worker w2 (PID 4121): …. Retry, or send this ID to your administrator: …"},
		{ruleWord, prose, "What the team tolerates is left out. A dashed line passes over builds that were not run; a bar is how sure a figure is.",
			"Known leaks excluded. Dashed: builds without a run. Bars: 95 % interval."},
		{ruleWord, prose, "○ 2 leaks are new (in older builds), 1 goes on; 3 places grow.",
			"0 new in b103. 1 leak from b101 may be fixed (clean in trace; soak has not decided). 3 growing."},
		{ruleWord, prose, "The run opens by itself when all files are there.",
			"The report opens when all files have been uploaded."},
		{ruleWord, prose, "Where the process ends inside the trace, the report looks at the instant before.",
			"If the process exits during the trace, the report shows memory just before exit."},
		{ruleWord, prose, "reads everything · all that an admin may", "Read all projects · Same as Admin"},

		{ruleHeading, heading, "What is freed of it", "Frees"},
		{ruleHeading, heading, "What it is made of", "Identity"},
		{ruleHeading, heading, "Since when", "First seen"},
		{ruleHeading, heading, "What was run", "Coverage"},
		{ruleHeading, heading, "The rule of each frame", "Blame rules"},
		{ruleHeading, heading, "Heaps as they are counted", "Heaps"},
		{ruleHeading, heading, "Largest reservations that are no heap", "Largest other reservations"},
		{ruleHeading, heading, "How rules read", "Where is my leak?"},

		{ruleButton, button, "Take away", "Export view"},
		{ruleButton, button, "Say whose it is", "Assign owner"},
		{ruleButton, button, "As an icicle", "Show in flame graph"},
		{ruleButton, button, "Look again", "Search symbols again"},
		{ruleButton, button, "Assign", "Merge"},
		{ruleButton, button, "Its 1 site", "1 site"},
		{ruleButton, button, "Remove", "Cancel"},

		{ruleSummary, summary, "How far an upload is", "Get the number of bytes that the server has received"},
		{ruleSummary, summary, "The report of the last analysis", "Get the report of the last analysis"},
		{ruleSummary, summary, "Delete", "Delete a run with its evidence"},
		{ruleSummary, summary, "List the members of a project.", "List the members of a project"},
		{ruleWord, summary, "Make somebody a member of a project", "Add a member to a project"},

		{ruleFragment, description, "of the upload.", "ID of the upload."},
		{ruleFragment, description, "That allocated.", "ID of the thread that allocated."},
		{ruleFragment, description, "Whether it leaks.", "True if the site leaks."},
		{ruleFragment, description, "bytes of the whole file.", "Size of the whole file, in bytes."},
		{ruleFragment, description, "Size of the whole file, in bytes", "1 sends the report as a file."},
		{ruleFragment, description, "", "tus versions that the server supports."},
		{ruleWord, description, "What became of them.", "… selects these sites:"},
	}
	for _, c := range cases {
		if !breaks(text{role: c.role, words: c.before}, c.rule) {
			t.Errorf("%q breaks no rule %q", c.before, c.rule)
		}
		if list := (text{role: c.role, words: c.after}).faults(); len(list) > 0 {
			t.Errorf("%q: %v", c.after, list)
		}
	}
}

func breaks(t text, r rule) bool {
	for _, f := range t.faults() {
		if f.rule == r {
			return true
		}
	}
	return false
}

// A sentence may have 25 words, not 26; a stop inside a number or a name ends none.
func TestSentenceLength(t *testing.T) {
	words := func(n int) string { return "A" + strings.Repeat(" word", n-1) }
	for _, c := range []struct {
		text string
		long bool
	}{
		{words(25) + ".", false},
		{words(26) + ".", true},
		{words(20) + ". " + words(20) + ".", false},
		{words(20) + " 1.5 " + words(5), true},
		{words(20) + " app.exe " + words(5), true},
		{words(24) + " – end", false}, // a dash is no word
	} {
		if got := breaks(text{words: c.text}, ruleSentence); got != c.long {
			t.Errorf("%q: too long %v, want %v", c.text, got, c.long)
		}
	}
}

// What a reader finds is one line each: the line in the file, the role, the words.
func TestReaders(t *testing.T) {
	for name, c := range map[string]struct{ content, want string }{
		"page.templ": {`package pages

var words = map[string]string{"code": "two words"}

templ part(v view) {
	<h2 class="not shown">Held <b>now</b></h2>
	<p title="is shown">
		{ quantity.Plural(v.n, "site") } of { "the " + v.run }
		if v.some {
			<a class="btn" href="no/address">Take away</a>
		}
	</p>
	<pre>commands are not read</pre>
	@component(v, "a literal")
}
`, `3: two words
6: # Held now
7: is shown
8: … site
8: … of the …
10: [] Take away
14: a literal
`},
		"message.go": {"package main\n\nimport \"a b\"\n\nconst usage = `first line\n  second line\n`\n\ntype config struct {\n\tWord string `env:\"NOT READ\" help:\"a help text\"`\n}\n\nfunc f() {\n" +
			"\tswitch x {\n\tcase \"not read\":\n\t\tfail(\"cannot \" + verb(\"go ahead\") + \" it: %w\", \"word\")\n\t}\n}\n",
			"5: first line\n5: second line\n10: a help text\n16: cannot … it: %w\n16: go ahead\n"},
		"names.go": {"package p\n\nvar names = `malloc realloc* std::* *::xmalloc\n  HeapAlloc Rtlp*\n`\n\nvar note = \"heaps' own commits*\"\n",
			"3: HeapAlloc Rtlp*\n7: heaps' own commits*\n"},
		"api.yaml": {"info: {title: not read, description: 'One sentence. Another.'}\nget:\n  summary: Get a `code word` now\n" +
			"  description: |\n    The first paragraph,\n    of two lines.\n\n    - An item.\n  operationId: not read\n" +
			"  schema: &s\n    enum: [not, read] # not read\n    example: not read\n    properties:\n" +
			"      description: {type: string, description: Text of the comment., pattern: 'not read'}\n" +
			"  other: *s\n  folded:\n    description: >-\n      The same text\n      goes on.\n",
			"1: One sentence. Another.\n3: > Get a … now\n5: The first paragraph, of two lines.\n8: An item.\n" +
				"14: Text of the comment.\n18: The same text goes on.\n"},
		"doc.md": {"# A heading\n\nOne sentence\nover two lines, `code and` [a link](to/some where).\n\n    a block of code\n\n" +
			"1. An item\n   of two lines\n\n        code of the item\n\n| one cell | another |\n| --- | --- |\n\n```\nfenced code\n```\n",
			"1: # A heading\n3: One sentence over two lines, … a link.\n8: An item of two lines\n13: one cell\n13: another\n"},
	} {
		texts, err := read(fstest.MapFS{name: {Data: []byte(c.content)}}, name)
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for _, x := range texts {
			fmt.Fprintf(&got, "%d: %s%s\n", x.line, x.role.mark(), x.words)
		}
		if got.String() != c.want {
			t.Errorf("%s:\n%swant\n%s", name, got.String(), c.want)
		}
	}
}

// An exception covers one text of one file under one rule; one that covers nothing is reported.
func TestExceptions(t *testing.T) {
	files := fstest.MapFS{
		"a.md": {Data: []byte("The doors of a theatre.\n")},
		"b.md": {Data: []byte("The doors of a theatre.\n")},
	}
	check := func(list ...exception) string {
		reports, err := check(files, []string{"*.md"}, list)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, r := range reports {
			names = append(names, r.file)
		}
		return strings.Join(names, " ")
	}
	for _, c := range []struct {
		want string
		list []exception
	}{
		{"a.md b.md", nil},
		{"b.md", []exception{{"a.md", ruleWord, "doors of a theatre", "they open"}}},
		{"a.md b.md tools/words/exceptions.go", []exception{{"a.md", ruleSentence, "doors of a theatre", "they open"}}},
		{"a.md b.md tools/words/exceptions.go", []exception{{"a.md", ruleWord, "doors of a house", "they open"}}},
	} {
		if got := check(c.list...); got != c.want {
			t.Errorf("%v: reports in %q, want %q", c.list, got, c.want)
		}
	}
}

// A pattern that no file has, and a file that no reader knows or can read, are errors: the table of files stays true.
func TestMatch(t *testing.T) {
	files := fstest.MapFS{"a.md": {}, "a_test.go": {}, "a.txt": {}, "a.yaml": {Data: []byte("a: [")}}
	for pattern, fails := range map[string]bool{"*.md": false, "*.go": false, "*.templ": true, "*.txt": true, "*.yaml": true} {
		if _, err := check(files, []string{pattern}, nil); (err != nil) != fails {
			t.Errorf("%s: %v", pattern, err)
		}
	}
}
