package main

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// A role is what a text is on its page: other rules hold for a heading than for a paragraph.
type role int

const (
	prose       role = iota
	heading          // h1 to h6, a heading of Markdown
	button           // a button, a submit input, a link or summary that looks like one
	summary          // the title of an endpoint in the API's description
	description      // what the API's description says of a field, an answer or an endpoint
)

func (r role) mark() string { return [...]string{"", "# ", "[] ", "> ", ""}[r] }

// A text is a run of words that users read as one: a paragraph, a label, a message. What a program puts in is "…".
type text struct {
	file  string
	line  int
	role  role
	words string
}

// A rule names what a fault breaks; exceptions name it too.
type rule string

const (
	ruleWord     rule = "word"
	ruleSentence rule = "sentence"
	ruleHeading  rule = "heading"
	ruleButton   rule = "button"
	ruleSummary  rule = "summary"
	ruleFragment rule = "fragment"
)

// A fault is one breach of a rule in a text.
type fault struct {
	rule  rule
	words string // the part of the text that is wrong
	mend  string // what to write instead
}

func (f fault) String() string { return fmt.Sprintf("%s: %q: %s", f.rule, f.words, f.mend) }

// faults checks the text against all rules.
func (t text) faults() []fault {
	words := plain(t.words)
	list := forbidden(words)
	for _, s := range sentences(words) {
		if n := countWords(s); n > maxWords {
			list = append(list, fault{ruleSentence, firstWords(s), fmt.Sprintf("%d words, at most %d: make two sentences", n, maxWords)})
		}
	}
	switch t.role {
	case heading:
		if why := clause(words); why != "" {
			list = append(list, fault{ruleHeading, words, why + ": a heading is a noun"})
		}
	case button:
		if bareLabel(words) {
			list = append(list, fault{ruleButton, words, "name the object: \"Export view\""})
		}
	case summary:
		if why := notImperative(words); why != "" {
			list = append(list, fault{ruleSummary, firstWords(words), why})
		}
	case description:
		if why := incomplete(words); why != "" {
			list = append(list, fault{ruleFragment, firstWords(words), why})
		}
	}
	return list
}

// plain replaces typographic apostrophes and folds spaces, so that tables need one spelling.
func plain(s string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(s, "’", "'")), " ")
}

// maxWords is how long a sentence may be.
const maxWords = 25

// sentenceEnd is a full stop, question mark or exclamation mark, perhaps in brackets or quotes, before a capital.
var sentenceEnd = regexp.MustCompile(`[.!?][)"”']*\s+[(“"'A-Z0-9…\p{Lu}]`)

// sentences splits a text. The abbreviations "e.g." and "i.e." do not end one, as a lower-case letter follows them.
func sentences(words string) []string {
	var list []string
	for {
		at := sentenceEnd.FindStringIndex(words)
		if at == nil {
			return append(list, words)
		}
		list = append(list, strings.TrimSpace(words[:at[0]+1]))
		words = words[at[0]+1:]
	}
}

// countWords counts what has a letter or a digit: a dash or an arrow between words is none.
func countWords(s string) int {
	n := 0
	for _, word := range strings.Fields(s) {
		if strings.ContainsFunc(word, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '…' }) {
			n++
		}
	}
	return n
}

func firstWords(s string) string {
	list := strings.Fields(s)
	if len(list) > 8 {
		return strings.Join(list[:8], " ") + " …"
	}
	return s
}

// Headings. A heading is a clause when it begins with a question word or a conjunction, or holds a finite verb: one of
// the auxiliaries, or a relative "that" or "which", after which one follows. Full verbs are not looked for, as most are
// nouns too ("Builds", "Frees"). A heading that ends in "?" is a question that readers ask, and may stay.
var (
	clauseBegins = regexp.MustCompile(`^(?i)(what|how|who|whose|whom|since|when|where|why|which|as|if|while|because|after)\b`)
	clauseVerb   = regexp.MustCompile(`(?i)\b(is|are|was|were|has|have|had|does|do|did|can|may|must|will|would|should|could|that|which|isn't|aren't|doesn't|don't|comes?|goes|stays?|says?|tells?)\b`)
	clauseOfEach = regexp.MustCompile(`^The\b.*\bof (each|every|all|it)\b`)
)

// clause says why a heading is a clause; "" where it is a noun.
func clause(words string) string {
	if strings.HasSuffix(words, "?") {
		return ""
	}
	if m := clauseBegins.FindString(words); m != "" {
		return fmt.Sprintf("it begins with %q", m)
	}
	if m := clauseVerb.FindString(words); m != "" {
		return fmt.Sprintf("it holds the verb or relative %q", m)
	}
	if clauseOfEach.MatchString(words) {
		return "it reads \"The … of each …\""
	}
	return ""
}

// Buttons. A label that consists of bare words alone has no object. Labels that everybody knows stay.
var (
	bareWords = wordSet(`take look say show make ask begin go get set put add remove delete change edit tell try do give
		keep send see open start read record mark pick choose accept assign save
		away again up down back on off out over it that this them so anew more into in here to and is whose`)
	knownLabels = map[string]bool{"save": true, "cancel": true, "close": true, "merge": true, "search": true,
		"filter": true, "retry": true, "log in": true, "log out": true, "back": true}
	labelBegins = regexp.MustCompile(`^(As an?|Its|Say|Tell|What|How|Whose|Who)\b`)
)

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// bareLabel reports whether the label of a button has no object, or is a clause.
func bareLabel(words string) bool {
	if knownLabels[strings.ToLower(words)] || words == "" {
		return false
	}
	if labelBegins.MatchString(words) {
		return true
	}
	for w := range strings.FieldsSeq(strings.ToLower(words)) {
		if !bareWords[w] {
			return false
		}
	}
	return true
}
