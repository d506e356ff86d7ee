package blame

import (
	"cmp"
	"slices"
	"strings"

	"heapdrift/ingest/sorting"
)

// An ownership is a line of triage.ini.
type ownership struct {
	module, function, owner string
}

// ImportTriage translates the owners of WinDbg's triage.ini: Module[!Function]=Owner, where * may end a name and the
// most complete match wins, as Microsoft documents under "Specifying Module and Function Owners". Rules come most exact
// first, so that the first match is the most complete one.
func ImportTriage(text string) RuleImport {
	var out RuleImport
	var list []ownership
	for n, line := range lines(text) {
		if line == "" || strings.HasPrefix(line, ";") || strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]") {
			continue
		}
		o, reason := parseOwnership(line)
		if reason != "" {
			out.Rejected = append(out.Rejected, RejectedLine{n, line, reason})
			continue
		}
		list = append(list, o)
	}
	sorting.Stable(list, func(a, b ownership) int {
		return cmp.Or(cmp.Compare(completeness(b.function), completeness(a.function)),
			cmp.Compare(completeness(b.module), completeness(a.module)))
	})
	for _, o := range list {
		rule := token("module:", o.module)
		if o.function != "" {
			rule += " " + token("function:", o.function)
		}
		out.Rules = append(out.Rules, rule+" -> "+token("owner=", o.owner))
	}
	return out
}

// notOwners are words in the place of an owner, for which !analyze skips to the next frame.
var notOwners = []string{"ignore", "maybe_ignore"}

func parseOwnership(line string) (o ownership, reason string) {
	eq := strings.LastIndexByte(line, '=') // operators have = in their names, owners do not
	if eq < 0 {
		return o, `no "="; a line reads Module!Function=Owner`
	}
	o.owner = strings.TrimSpace(line[eq+1:])
	o.module, o.function, _ = strings.Cut(strings.TrimSpace(line[:eq]), "!")
	o.module, o.function = strings.TrimSpace(o.module), strings.TrimSpace(o.function)
	switch {
	case slices.ContainsFunc(notOwners, func(word string) bool { return strings.EqualFold(word, o.owner) }):
		return o, o.owner + " is not an owner: WinDbg skips such frames; write a layer instead, as in module:" +
			cmp.Or(o.module, "name") + " -> plumbing"
	case o.owner == "":
		return o, "no owner after the ="
	case o.module == "":
		return o, "no module before the ="
	case hasInnerStar(o.module), hasInnerStar(o.function):
		return o, "a * is allowed only at the end of a name"
	}
	return o, ""
}

func hasInnerStar(s string) bool { return strings.Contains(strings.TrimSuffix(s, "*"), "*") }

// completeness orders patterns: whole names before prefixes, long prefixes before short ones, nothing last.
func completeness(pattern string) int {
	switch {
	case pattern == "":
		return -1
	case strings.HasSuffix(pattern, "*"):
		return len(pattern) - 1
	}
	return 1<<30 + len(pattern)
}
