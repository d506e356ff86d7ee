package debugdiag

import (
	"regexp"
	"sync"
)

// lazy compiles an expression when it is first used: nearly all runs of the program meet no report.
func lazy(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
