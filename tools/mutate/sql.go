package main

import (
	"regexp"
	"strings"
)

// isQuery matches string literals that hold SQL or a part of it.
var isQuery = regexp.MustCompile(`(?s)^\s*(select|insert into|update|delete from|with|from|left join|join|where|and|exists|not exists|case when|on conflict|order by)\b.*\s`)

// sqlWord matches what decides where a clause ends: words, operators, brackets, and quoted text and remarks, which are
// passed over.
var sqlWord = regexp.MustCompile(`'(?:[^']|'')*'|"[^"\n]*"|--[^\n]*|\w+|[-+*/<>=~!@#%^&|?]+|[(),;]`)

// clauseEnds are the words behind which another part of a query begins.
var clauseEnds = map[string]bool{
	"and": true, "or": true, "order": true, "group": true, "limit": true, "offset": true, "returning": true,
	"union": true, "then": true, "else": true, "end": true, "on": true, "join": true, "left": true, "cross": true,
	"where": true, "for": true, "having": true, "window": true, "do": true, "when": true, "as": true, ";": true, ",": true,
	"intersect": true, "except": true,
}

// sqlFlipped are the comparisons that another takes the place of.
var sqlFlipped = map[string]string{"<": "<=", "<=": "<", ">": ">=", ">=": ">"}

// sqlEdits returns the mutations of a query, or of a part of one. A clause is dropped by making it true, or false where
// it stands behind "or": the arguments that it names stay in use, so that the query still runs. goesOn says that more
// follows behind the text.
func sqlEdits(text string, goesOn bool) (edits []edit) {
	words := sqlWord.FindAllStringIndex(text, -1)
	word := func(i int) string { return strings.ToLower(text[words[i][0]:words[i][1]]) }
	between := false // the next "and" belongs to a between
	for i, w := range words {
		switch s := word(i); s {
		case "between":
			between = true
		case "and", "where", "or":
			if s == "and" && between {
				between = false
				continue
			}
			from, to, ok := clause(text, words, i, goesOn)
			if !ok {
				continue
			}
			with := "(" + text[from:to] + " or true)"
			if s == "or" {
				with = "(" + text[from:to] + " and false)"
			}
			edits = append(edits, edit{from, to, with, "drop a clause"})
		case "desc":
			edits = append(edits, edit{w[0], w[1], "", "order the other way"})
		case "min", "max":
			if i+1 < len(words) && word(i+1) == "(" {
				edits = append(edits, edit{w[0], w[1], map[string]string{"min": "max", "max": "min"}[s], s + " to another"})
			}
		default:
			if to, ok := sqlFlipped[s]; ok {
				edits = append(edits, edit{w[0], w[1], to, s + " to " + to})
			}
		}
	}
	return edits
}

// clause finds the condition behind word i: from the next word to the one that begins something else.
func clause(text string, words [][]int, i int, goesOn bool) (from, to int, ok bool) {
	if i+1 == len(words) {
		return 0, 0, false
	}
	from, to = words[i+1][0], words[i+1][0]
	depth, cases, between := 0, 0, false
	for _, w := range words[i+1:] {
		s := strings.ToLower(text[w[0]:w[1]])
		switch {
		case strings.HasPrefix(s, "--"):
			continue
		case s == "(":
			depth++
		case s == ")" && depth == 0:
			return from, to, to > from
		case s == ")":
			depth--
		case depth > 0:
		case s == "case":
			cases++
		case cases > 0:
			if s == "end" {
				cases--
			}
		case s == "between":
			between = true
		case s == "and" && between:
			between = false
		case clauseEnds[s]:
			return from, to, to > from
		}
		to = w[1]
	}
	return from, to, to > from && depth == 0 && cases == 0 && !goesOn
}
