package shopd

import (
	"fmt"

	"heapdrift/ingest/exitlog/exitlogtest"
)

// The unit tests of shopd are two GoogleTest programs. One runs under the debug CRT, one under Visual Leak Detector. They
// left 500 leaks when their team looked for the first time.
const (
	unitTestScenario = "unit-tests"
	crtLeaks         = 480
	vldLeaks         = 20
	leakingBuild     = "4811" // that brings a leak, which is fixed in the next
)

var (
	suites  = []string{"Catalog", "Order", "Receipt", "Pricing", "Stock", "Session", "Search", "Audit"}
	cases   = []string{"Adds", "Removes", "Sorts", "Parses", "Rejects"}
	parts   = []string{"", "_index", "_store"} // of the files of a suite
	clients = []string{"Connects", "Retries", "TimesOut", "Redirects", "Resumes", "Uploads", "Cancels", "Closes"}
)

// crtTests are the tests that run under the debug CRT. The lines of their leaks move a little with each build. A fixture
// leaks in each test of the first suite. The tests of one suite leave nothing.
func (b build) crtTests() *exitlogtest.Suite {
	s := &exitlogtest.Suite{Program: "shopd_tests.exe", Seed: uint64(b.pid)}
	tests := map[string]*exitlogtest.Test{}
	const cleanSuite = "Pricing"
	for _, suite := range suites {
		for _, name := range cases {
			s.Tests = append(s.Tests, exitlogtest.Test{Name: suite + "Test." + name})
		}
	}
	for i := range s.Tests {
		tests[s.Tests[i].Name] = &s.Tests[i]
	}
	for _, name := range cases {
		t := tests[suites[0]+"Test."+name]
		t.Left = append(t.Left, exitlogtest.Block{File: `c:\src\shopd\tests\fixture.cpp`, Line: 31 + b.moved(), Size: 48})
	}
	for k, made := 0, 1; made < crtLeaks; k++ {
		suite := suites[k%len(suites)]
		if suite == cleanSuite {
			continue
		}
		at := k / len(suites)
		t := tests[suite+"Test."+cases[at%len(cases)]]
		t.Left = append(t.Left, exitlogtest.Block{
			File: fmt.Sprintf(`c:\src\shopd\%s\%s%s.cpp`, lower(suite), lower(suite), parts[at/len(cases)%len(parts)]),
			Line: 20 + 3*at + b.moved(), Size: 16 + 8*(at%17),
		})
		made++
	}
	return s
}

// vldTests are the tests that run under Visual Leak Detector.
func (b build) vldTests() *exitlogtest.Suite {
	s := &exitlogtest.Suite{Program: "shopd_net_tests.exe", Seed: uint64(b.pid)}
	for i, name := range clients {
		t := exitlogtest.Test{Name: "NetTest." + name}
		for k := i; k < vldLeaks; k += len(clients) {
			t.Left = append(t.Left, exitlogtest.Block{File: `c:\src\shopd\http\client.cpp`, Line: 60 + 11*k + b.moved(),
				Size: 24 + 40*k, Function: fmt.Sprintf("Http::Client::%s%d", name, k/len(clients)+1)})
		}
		if name == "Resumes" && b.name == leakingBuild {
			t.Left = append(t.Left, exitlogtest.Block{File: `c:\src\shopd\session\session.cpp`, Line: 88, Size: 4096, Function: "Session::Resume"})
		}
		s.Tests = append(s.Tests, t)
	}
	return s
}

// moved is by how many lines the code of the tests has moved since the first build.
func (b build) moved() int { return 2 * int(b.at.Sub(day).Hours()/24) }

func lower(name string) string { return string(name[0]+'a'-'A') + name[1:] }
