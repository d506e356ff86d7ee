package main

import "regexp"

// A word is an expression that texts for users must not contain, and its replacement.
type word struct {
	forbidden *regexp.Regexp
	instead   string
}

func never(expression, instead string) word {
	return word{regexp.MustCompile(`(?i)\b(?:` + expression + `)\b`), instead}
}

// glossary lists the forbidden expressions, grouped by kind: each thing has one word.
var glossary = []word{
	// Terms of the field.
	never(`places?`, `"site" in counts; "function", "line" or "address" for what is meant`),
	never(`findings?`, `"leak", or "signature" for the identifier`),
	never(`suspects?|suspected|undecided growth`, `"growing"`),
	never(`outstanding|at stake|live`, `"held" (WPA's column names only in tables like WPA's)`),
	never(`(?:a|the|one|two|three|first|last|next|each|every|\d+) looks?`, `"snapshot"`),
	never(`instants?|moments?`, `"snapshot", or the time`),
	never(`witness(?:es)?|testif(?:y|ies)|testimony`, `"evidence"; "kinds of evidence agree"`),
	never(`judge?ments?|outcomes?|conclusions?`, `"verdict"`),
	never(`functions? to blame|frames? to blame`, `"blamed function"`),
	never(`outlines?|shelf|shelves`, `"call stack"`),
	never(`repetitions?`, `"run"`),
	never(`silenc(?:e|es|ed|ing)|tolerat(?:e|es|ed|ing)`, `"known", "mark as known"`),
	never(`whose (?:it|they|that|this) (?:is|are)`, `"owner"`),
	never(`(?:have|has) no names?|names? (?:is|are) missing`, `"no symbols for MODULE"`),

	// Pictures.
	never(`doors?|houses?|rooms?|speakers?`, `the field's term: "server", "package", "space on the disk"`),
	never(`walk(?:s|ed)? apart|bears? (?:it |this |them |that )?out|borne out`, `"differ", "confirm"`),
	never(`tak(?:e|es|en|ing) (?:it |them |this )?away`, `"export"`),
	never(`icicles?`, `"flame graph"`),

	// Turns of phrase that need two readings.
	never(`that of|those of|of which|of whom|those that|those which`, `the noun`),
	never(`what (?:is|was|are|were|becomes?|became)`, `the noun`),
	never(`as \w+ as (?:a|an|the|its|their|it|time)`, `the measured value, or "in step with"`),
	never(`(?:by|of) itself|nothing of (?:it|them)`, `the subject: "in this run", "gone in build 12"`),
	never(`nobody('s)?|somebody('s)?`, `who: "no team member", "another user", "without a name"`),
	never(`(?:first|seen|was|is|been) bad|bad in`, `"leaked", "first seen in"`),
	never(`anew`, `"again"`),
	never(`in all`, `"in total", or nothing`),
	never(`tells? (?:a leak|nothing|apart|that|of)|told apart|tells? .{1,30} apart`, `"detect", "distinguish", "show"`),
	never(`known to have been clean`, `"tested": "No older build was tested for it."`),
	never(`nothing (?:keeps|grows|leaks)`, `the noun: "no site keeps growing"`),
	never(`server failed|its log says`, `what failed, and what to do next`),
	never(`stay(?:ed)? came|came as|that looks? like this`, `"were allocated", "such sites"`),
	never(`proves?`, `"shows", "confirms"`),
	never(`goes on|go on`, `"continues", "still open"`),
	never(`all that an?|reads everything`, `"Same as Admin", "Read all projects"`),
	never(`know(?:s|n)? nothing`, `the missing thing: "no data for"`),
	never(`meanwhile`, `the time: "since you opened it"`),
}

// forbidden returns a fault for each forbidden expression in text.
func forbidden(text string) []fault {
	var list []fault
	for _, w := range glossary {
		for _, found := range w.forbidden.FindAllString(text, -1) {
			list = append(list, fault{ruleWord, found, "write " + w.instead})
		}
	}
	return list
}
