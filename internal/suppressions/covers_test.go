package suppressions_test

import (
	"strings"
	"testing"

	"heapdrift/internal/suppressions"
)

// What a line is for is told by its globs as the form has them.
func TestCovers(t *testing.T) {
	t.Parallel()
	const lsan, valgrind, drMemory = "lsan", "valgrind", "drmemory"
	for _, test := range []struct{ known, other, by string }{
		{"a!init", "a!init", "lsan valgrind drmemory"},
		{"a!init", "b!init", "lsan valgrind"},
		{"a!init", "init", "lsan valgrind drmemory"},
		{"init", "b!init", "lsan valgrind drmemory"},
		{"a!init", "a!reinit", "lsan"},
		{"a!init", "a!ns::init", "lsan"},
		{"a!init", "a!init2", "lsan"},
		{"a!init", "init!f", "lsan"},
		{"a!init", "ab!init", "lsan valgrind"},
		{"A!init", "a!init", "lsan valgrind drmemory"},
		{"a!Cache::Put", "b!Cache::Put", "lsan valgrind"},
		{"a!Cache::Put", "a!ns::Cache::Put", "lsan valgrind"},
		{"a!Cache::Put", "a!ns<T>::Cache::Put", "lsan valgrind"},
		{"a!Cache::Put", "a!<anonymous>::Cache::Put", "lsan valgrind"},
		{"a!Cache::Put", "a!MyCache::Put", "lsan"},
		{"a!Cache::Put", "a!Cache::PutAll", "lsan"},
		{"a!Cache::Put", "a!Cache::Put::<lambda>", "lsan"},
		{"a!Cache::Put", "a!Cache<T>::Put", ""},
		{"a!Cache::Cache", "a!ns::Cache::Cache", "lsan valgrind"},
		{"a!Cache::~Cache", "a!ns::Cache::~Cache", "lsan valgrind"},
		{"a!Cache::~Cache", "a!Cache::Cache", ""},
		{"a!<anonymous>::f", "a!ns::<anonymous>::f", "lsan valgrind drmemory"},
		{"a!Grid<T>::Add", "a!Grid<T>::Add", "lsan drmemory"},
		{"a!Grid<T>::Add", "a!Grid<T>::Row<T>::Add", "lsan drmemory"},
		{"a!Grid<T>::Add", "a!Grid<T>::Remove", ""},
		{"a!Vec::operator[]", "a!Vec::operator[]", "lsan drmemory"},
	} {
		known, other := frame(test.known), frame(test.other)
		if known.Module != "" {
			known.Module += ".*"
		}
		for _, form := range []suppressions.Form{lsan, valgrind, drMemory} {
			pattern, name := suppressions.NewPattern(form, known), suppressions.NewName(form, other)
			if got, want := pattern.Covers(&name), strings.Contains(test.by, string(form)); got != want {
				t.Errorf("%s: %s is for %s: %t, want %t", form, test.known, test.other, got, want)
			}
		}
	}
}

func frame(name string) suppressions.Frame {
	module, function, ok := strings.Cut(name, "!")
	if !ok {
		module, function = "", name
	}
	return suppressions.Frame{Module: module, Function: function}
}
