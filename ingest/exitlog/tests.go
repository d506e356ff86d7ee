package exitlog

import (
	"bytes"
	"strings"
)

// longestTest bounds the name of a test, in bytes.
const longestTest = 300

// A runningTest knows which test of a process runs, by what its test framework prints:
//
//	[ RUN      ] Cache.Evicts                       GoogleTest; ends with [       OK ], [  FAILED  ] or [  SKIPPED ]
//	TEST CASE:  evicts                              doctest, of a test that fails, or with -s
//	a rule of 79 dashes, name, sections, a rule     Catch2, likewise
//	Entering test case "evicts"                     Boost.Test with --log_level=test_suite; suites likewise
//	a.cpp(9): error: in "evicts": check … failed    Boost.Test since 1.59; before without the colon behind "error"
//	Passed Evicts [5 ms], Standard Output Messages: VSTest, whose output follows the result
//	Start 5: evicts                                 ctest, of all lines that follow, or with -V of those after "5:"
type runningTest struct {
	inner   string   // of the framework
	outer   string   // of ctest
	suites  []string // of Boost.Test
	result  string   // of VSTest: whose result was printed last
	pending int      // lines in which a name may come: of Catch2
	// announced says that the framework of inner prints each test before it runs it: GoogleTest and Boost.Test do.
	announced bool
	failed    bool   // a check of the test of Boost.Test that runs
	ended     string // the test that the last line ended, and that passed; "" for none
}

// name is the test that runs, "" for none.
func (t *runningTest) name() string {
	if t.inner != "" {
		return t.inner
	}
	return t.outer
}

// line reads a line that is of no list.
func (t *runningTest) line(text []byte) {
	if t.pending > 0 && t.catchName(text) {
		return
	}
	switch text[0] {
	case '[':
		t.bracketed(text)
		return
	case '-':
		if string(text) == catchRule && t.pending == 0 {
			t.pending = 1
		}
	case 'T', 'A', 't':
		if name, ok := bytes.CutPrefix(text, []byte("TEST CASE:")); ok {
			t.inner, t.announced = validText(name, longestTest), false
		} else if hasPrefix(text, "All tests passed") || hasPrefix(text, "test cases: ") || hasPrefix(text, "Total tests: ") {
			t.inner, t.result = "", ""
		}
	case 'P', 'F':
		t.vsTest(text)
	case 'S':
		if hasPrefix(text, "Standard Output Messages:") {
			t.inner, t.announced = t.result, false
		}
	}
	if at := bytes.Index(text, []byte("Entering test ")); at >= 0 {
		t.boost(text[at+len("Entering test "):], true)
	} else if at := bytes.Index(text, []byte("Leaving test ")); at >= 0 {
		t.boost(text[at+len("Leaving test "):], false)
	} else if t.inner != "" && !t.failed {
		t.failed = bytes.Contains(text, []byte(`error: in "`)) || bytes.Contains(text, []byte(`error in "`))
	}
}

func hasPrefix(text []byte, prefix string) bool { return bytes.HasPrefix(text, []byte(prefix)) }

// catchName takes the line after a rule for the name of a test; the lines behind it are sections. After the rule below
// them comes the place of the test, which is no name.
func (t *runningTest) catchName(text []byte) bool {
	t.pending = 0
	if text[0] == '-' || text[0] == '=' {
		return false
	}
	if !isPlace(text) {
		t.inner, t.announced = validText(text, longestTest), false
	}
	return true
}

// isPlace reports whether a text is a file and a line, as compilers print them: a\b.cpp(21), a/b.cpp:21.
func isPlace(text []byte) bool {
	open := byte(':')
	if rest, ok := bytes.CutSuffix(text, []byte(")")); ok {
		text, open = rest, '('
	}
	from := bytes.LastIndexByte(text, open)
	return from > 0 && from+1 < len(text) && countDigits(text[from+1:]) == len(text)-from-1 &&
		bytes.IndexByte(text[:from], '.') >= 0
}

// bracketed reads a line of GoogleTest, and doctest's summary.
func (t *runningTest) bracketed(text []byte) {
	end := bytes.IndexByte(text, ']')
	if end < 0 {
		return
	}
	switch word := string(bytes.TrimSpace(text[1:end])); word {
	case "RUN":
		t.inner, t.announced = validText(text[end+1:], longestTest), true
	case "OK":
		t.ended, t.inner = t.inner, ""
	case "FAILED", "SKIPPED", "doctest": // it may have left before the code that leaks
		t.inner = ""
	}
}

// boost reads `case "name"`, `suite "name"` and `module "name"`.
func (t *runningTest) boost(text []byte, enters bool) {
	kind, rest := cutWord(text)
	from := bytes.IndexByte(rest, '"')
	if from < 0 {
		return
	}
	rest = rest[from+1:]
	if to := bytes.IndexByte(rest, '"'); to >= 0 {
		rest = rest[:to]
	}
	name := validText(rest, longestTest)
	const mostSuites = 32
	switch string(kind) {
	case "suite":
		if n := len(t.suites); enters && n < mostSuites {
			t.suites = append(t.suites, name)
		} else if !enters && n > 0 {
			t.suites = t.suites[:n-1]
		}
	case "case":
		if !enters && !t.failed {
			t.ended = t.inner
		}
		t.failed = false
		if t.inner = ""; enters {
			t.announced = true
			t.inner = strings.Join(append(t.suites[:len(t.suites):len(t.suites)], name), "/")
		}
	}
}

// vsTest reads the result of a test: "Passed Name [5 ms]".
func (t *runningTest) vsTest(text []byte) {
	result, rest := cutWord(text)
	if word := string(result); word != "Passed" && word != "Failed" || len(rest) == 0 || text[len(text)-1] != ']' {
		return
	}
	if at := bytes.LastIndex(rest, []byte(" [")); at > 0 {
		t.result, t.inner = validText(rest[:at], longestTest), ""
	}
}

// A ctestLog knows the tests of ctest. With -V ctest prints the output of each test behind its number, so that tests
// that run at the same time stay apart:
//
//	    Start 5: cache_tests
//	5: Test command: C:\build\cache_tests.exe "--gtest_color=no"
//	5: [ RUN      ] Cache.Evicts
//	1/9 Test #5: cache_tests ......................   Passed    0.02 sec
//
// With --output-on-failure the output follows the line with the result.
type ctestLog struct{ names map[string]string } // by number

// line reads a line, and reports whether it is ctest's own.
func (c *ctestLog) line(text []byte, l *lanes, at *lane) bool {
	if at.name != "" && at.tests.outer == "" && c.names != nil {
		if number, ok := strings.CutSuffix(at.name, ":"); ok {
			at.tests.outer = c.names[number]
		}
	}
	switch {
	case hasPrefix(text, "Start "):
		number, name, ok := cutNumbered(text[len("Start "):])
		if !ok {
			return false
		}
		if c.names == nil {
			c.names = map[string]string{}
		}
		const mostTests = 1 << 16
		if len(c.names) < mostTests {
			c.names[number] = name
		}
		at.tests = runningTest{outer: name}
		at.start(l.out)
		if own := l.byName[number+":"]; own != nil {
			own.tests = runningTest{outer: name}
		}
	case hasPrefix(text, "Test command: "):
		l.out.program(at, text[len("Test command: "):])
	case hasPrefix(text, "100% tests passed"), bytes.Contains(text, []byte("% tests passed")):
		at.tests = runningTest{}
	default:
		return c.result(text, l, at)
	}
	return true
}

// result reads "1/9 Test #5: name ......   Passed    0.02 sec".
func (c *ctestLog) result(text []byte, l *lanes, at *lane) bool {
	_, rest, ok := bytes.Cut(text, []byte(" Test "))
	if !ok {
		return false
	}
	rest, ok = bytes.CutPrefix(bytes.TrimLeft(rest, " "), []byte("#"))
	if !ok {
		return false
	}
	number, name, ok := cutNumbered(rest)
	if !ok {
		return false
	}
	at.tests = runningTest{}
	if dots := strings.Index(name, " ..."); dots >= 0 {
		passed := strings.Contains(name[dots:], " Passed")
		if passed && l.byName[number+":"] != nil { // its output was printed
			l.out.ended(name[:dots])
		}
		if !passed {
			at.tests.outer = name[:dots]
		}
	}
	return true
}

// cutNumbered cuts "5: name".
func cutNumbered(text []byte) (number, name string, ok bool) {
	text = bytes.TrimLeft(text, " ")
	n := countDigits(text)
	if n == 0 || n == len(text) || text[n] != ':' {
		return "", "", false
	}
	return string(text[:n]), validText(text[n+1:], longestTest), true
}
