package accountstore

import (
	"slices"
	"strconv"
	"strings"
)

// freeName is a name that none of those taken has, which are in lower case.
func freeName(wanted string, taken []string) string {
	name := wanted
	for n := 2; slices.Contains(taken, strings.ToLower(name)); n++ {
		name = wanted + " " + strconv.Itoa(n)
	}
	return name
}
