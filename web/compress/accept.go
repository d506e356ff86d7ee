package compress

import "strings"

// weight is what a client says of a coding: 0 to 1000 for q=0 to q=1.000, or unsaid.
type weight int

const unsaid weight = -1

// ChooseCoding returns the coding of an answer to a client with this Accept-Encoding header (RFC 9110, 12.5.3): of the
// offers the one with the highest weight, the earlier one among equals, or Identity. A client that says nothing gets
// Identity, and so does one that accepts none of the offers, even where it refuses Identity: an answer is better than
// none.
func ChooseCoding(accept string, offers ...Coding) Coding {
	best, most := Identity, weight(0)
	for _, offer := range offers {
		if w := weightOf(accept, offer); w > most {
			best, most = offer, w
		}
	}
	if weightOf(accept, Identity) > most {
		return Identity
	}
	return best
}

// weightOf is the weight of a coding by its name, else by "*". The first member that names it decides. A member that is
// malformed is passed over: what is not understood is not accepted.
func weightOf(accept string, coding Coding) weight {
	all := unsaid
	for member := range strings.SplitSeq(accept, ",") {
		name, parameters, _ := strings.Cut(member, ";")
		w := quality(parameters)
		if w == unsaid {
			continue
		}
		switch name = strings.Trim(name, " \t"); {
		case names(name, coding):
			return w
		case name == "*" && all == unsaid:
			all = w
		}
	}
	return all
}

// names reports whether a client's word is that for a coding. "x-gzip" is the old one for gzip.
func names(word string, coding Coding) bool {
	if coding == Identity {
		return strings.EqualFold(word, "identity")
	}
	return strings.EqualFold(word, string(coding)) || coding == Gzip && strings.EqualFold(word, "x-gzip")
}

// quality reads the parameters behind a coding: 1000 where there is no q, unsaid where it is malformed.
func quality(parameters string) weight {
	for parameter := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(parameter, "=")
		if strings.EqualFold(strings.Trim(name, " \t"), "q") {
			return parseWeight(strings.Trim(value, " \t"))
		}
	}
	return 1000
}

// parseWeight reads a qvalue: "0" or "1" with at most three decimals, none of them above 1.
func parseWeight(text string) weight {
	if text == "" || len(text) > len("0.000") || text[0] != '0' && text[0] != '1' || len(text) > 1 && text[1] != '.' {
		return unsaid
	}
	w := weight(text[0]-'0') * 1000
	for unit, rest := weight(100), text[min(2, len(text)):]; rest != ""; unit, rest = unit/10, rest[1:] {
		if rest[0] < '0' || rest[0] > '9' {
			return unsaid
		}
		w += weight(rest[0]-'0') * unit
	}
	if w > 1000 {
		return unsaid
	}
	return w
}
