package leaks_test

import (
	"slices"
	"strings"
	"testing"

	"heapdrift/internal/leaks"
)

func TestParseAncestors(t *testing.T) {
	long := strings.Repeat("a", 64)
	for _, test := range []struct {
		text  string
		want  []string
		wrong bool
	}{
		{"", nil, false},
		{" \n\r\n,", nil, false},
		{"c3\r\nc2\nc1\n", []string{"c3", "c2", "c1"}, false},
		{"c3, c2,c1", []string{"c3", "c2", "c1"}, false},
		{long, []string{long}, false},
		{long + "a", nil, true},
		{"c3 c2", nil, true},
		{"c3\n\x00", nil, true},
		{"-x", nil, true},
		{strings.Repeat("c\n", leaks.MaxAncestors), slices.Repeat([]string{"c"}, leaks.MaxAncestors), false},
		{strings.Repeat("c\n", leaks.MaxAncestors+1), nil, true},
	} {
		got, err := leaks.ParseAncestors(test.text)
		if !slices.Equal(got, test.want) || (err != nil) != test.wrong {
			t.Errorf("%.40q: %d commits, %v", test.text, len(got), err)
		}
		if test.wrong {
			checkField(t, err, "ancestors")
		}
	}
}

func TestLaterCommit(t *testing.T) {
	for _, test := range []struct {
		former, later, want string
		replaced            bool
	}{
		{"", "", "", false}, {"", "aaaaaaa1", "aaaaaaa1", false}, {"aaaaaaa1", "", "aaaaaaa1", false},
		{"aaaaaaa1", "aaaaaaa1", "aaaaaaa1", false}, {"aaaaaaa1", "bbbbbbb1", "bbbbbbb1", true},
		{"aaaaaaa", "aaaaaaa1", "aaaaaaa1", false}, {"aaaaaaa1", "aaaaaaa", "aaaaaaa1", false},
		{"aaaaaa", "aaaaaa1", "aaaaaa1", true}, {"aaaaaa1", "aaaaaa", "aaaaaa", true},
	} {
		if got, replaced := leaks.LaterCommit(test.former, test.later); got != test.want || replaced != test.replaced {
			t.Errorf("%q after %q is %q, %t", test.later, test.former, got, replaced)
		}
	}
}
