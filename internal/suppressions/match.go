package suppressions

import "strings"

// matches reports whether a glob is for all of a name. Its time is the product of both lengths at worst.
func matches(glob, name string) bool {
	p, star, from := 0, -1, 0 // from is where the text of the last star begins to be tried
	for i := 0; i < len(name); {
		switch {
		case p < len(glob) && glob[p] == '*':
			star, from = p, i
			p++
		case p < len(glob) && (glob[p] == '?' || glob[p] == name[i]):
			p++
			i++
		case star >= 0:
			from++
			p, i = star+1, from
		default:
			return false
		}
	}
	return strings.Trim(glob[p:], "*") == ""
}
