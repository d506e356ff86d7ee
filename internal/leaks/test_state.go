package leaks

// A TestState says how a test stands by the lists of leaks at exit that were printed in it.
type TestState string

// The states of a test, the gravest first.
const (
	TestNew     TestState = "new"     // a leak of it is new or regressed
	TestOpen    TestState = "open"    // it has leaks that nobody has accepted
	TestKnown   TestState = "known"   // all of its leaks are known
	TestUnknown TestState = "unknown" // its list breaks off, and shows no leak
	TestClean   TestState = "clean"
)

// TestStates are all of them, the gravest first.
var TestStates = []TestState{TestNew, TestOpen, TestKnown, TestUnknown, TestClean}

// A TestCount is what one run says of a test.
type TestCount struct {
	Leaks            int
	Known, New, Open int  // of the leaks that name the test; Open are all that are not known
	Whole            bool // its lists lost nothing
}

// State is how the test stands. A leak of very many tests does not name all of them: it counts as open. So does a test
// that an open leak names, whatever the numbers of its leaks say.
func (c TestCount) State() TestState {
	switch {
	case c.New > 0:
		return TestNew
	case c.Leaks > c.Known, c.Leaks > 0 && c.Open > 0:
		return TestOpen
	case c.Leaks > 0:
		return TestKnown
	case !c.Whole:
		return TestUnknown
	}
	return TestClean
}
