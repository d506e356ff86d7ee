package leaks_test

import (
	"errors"
	"strings"
	"testing"

	"heapdrift/internal/leaks"
)

func TestSourceLinks(t *testing.T) {
	links, err := leaks.ParseSourceLinks("# build machines\r\n"+
		`c:\src\shopd   https://git.example/shopd/blob/{build}/{path}#L{line}`+"\n"+
		`C:\Src\shopd\third party\ https://git.example/third?at={branch}&file={path}&line={line}`+"\n\n"+
		"/home/ci/app http://local/{path}\n", " https://git.example/shopd/compare/{base}...{head} ")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ file, want string }{
		{`c:\src\shopd\order\receipt.cpp`, "https://git.example/shopd/blob/4812%2Frc%201/order/receipt.cpp#L118"},
		{`C:/SRC/Shopd/Order/Receipt.cpp`, "https://git.example/shopd/blob/4812%2Frc%201/Order/Receipt.cpp#L118"},
		{`c:\src\shopd\third party\x y\#z.c`, "https://git.example/third?at=feature%2Fleak&file=x%20y/%23z.c&line=118"},
		{`c:\src\shopd\third party\c++\a&b=1.cpp`,
			"https://git.example/third?at=feature%2Fleak&file=c%2B%2B/a%26b%3D1.cpp&line=118"},
		{`c:\src\shopdx\a.cpp`, ""},
		{`c:\src\shopd\..\..\windows\a.cpp`, ""},
		{`c:\src\shopd\\a.cpp`, ""},
		{`c:\src\shopd\`, ""},
		{`c:\src\shopd`, ""},
		{`d:\a\_work\1\s\src\vctools\crt\malloc.cpp`, ""},
		{"/home/ci/app/main.c", "http://local/main.c"},
		{`c:\src\shopd\{line}.cpp`, "https://git.example/shopd/blob/4812%2Frc%201/%7Bline%7D.cpp#L118"},
		{"", ""},
	} {
		if got := links.FileURL(test.file, 118, "4812/rc 1", "feature/leak"); got != test.want {
			t.Errorf("%s is at %q, not %q", test.file, got, test.want)
		}
	}
	for _, test := range [][3]string{
		{"1f0c", "9a/b", "https://git.example/shopd/compare/1f0c...9a%2Fb"}, {"", "9ab", ""},
		{"1f0c", "", ""}, {"9ab", "9ab", ""},
	} {
		if got := links.CompareURL(test[0], test[1]); got != test[2] {
			t.Errorf("between %q and %q is %q", test[0], test[1], got)
		}
	}
	again, err := leaks.ParseSourceLinks(links.FilesText(), links.CommitTemplate())
	if err != nil || again.FilesText() != links.FilesText() || again.CommitTemplate() != links.CommitTemplate() {
		t.Errorf("%q is not read again: %v", links.FilesText(), err)
	}
	if none, err := leaks.ParseSourceLinks("  \n", ""); err != nil || none.FileURL(`c:\src\a.c`, 1, "", "") != "" ||
		none.CompareURL("1", "2") != "" {
		t.Errorf("no links: %v", err)
	}
}

func TestWrongSourceLinks(t *testing.T) {
	for text, says := range map[string]string{
		"# \x00\n":                           "line 1 is not text in UTF-8, or has control characters",
		"c:\\src":                            "line 1: write a folder, a blank and an address",
		"\nc:\\src javascript:alert({path})": "line 2: javascript:alert({path}) does not begin with https:// or http://",
		"c:\\src //git.example/{path}":       "does not begin with https",
		"c:\\src https://me:secret@git.example/{path}":                     "does not begin with https",
		"c:\\src https://git.example/#L{line}":                             "line 1: the address lacks {path}",
		"c:\\" + strings.Repeat("x", 2000) + " https://git.example/{path}": "line 1 is longer than 2000 characters",
		strings.Repeat("c:\\src https://git.example/{path}\n", 101):        "more than 100 folders",
	} {
		_, err := leaks.ParseSourceLinks(text, "")
		var field *leaks.FieldError
		if !errors.As(err, &field) || field.Field != "sources" || !strings.Contains(field.Message, says) {
			t.Errorf("%.40q: %v, not %q", text, err, says)
		}
	}
}

func TestWrongCommitsLink(t *testing.T) {
	for text, says := range map[string]string{
		"git.example/{base}...{head}":          "does not begin with https",
		"https://git.example/compare/{base}":   "the address lacks {base} or {head}",
		"https://git.example/compare/{head}":   "the address lacks {base} or {head}",
		"data:text/html,{base}{head}":          "does not begin with https",
		"https://git.example/\xff{base}{head}": "does not begin with https",
		"ftp://git.example/{base}...{head}":    "does not begin with https",
	} {
		_, err := leaks.ParseSourceLinks("", text)
		var field *leaks.FieldError
		if !errors.As(err, &field) || field.Field != "commits" || !strings.Contains(field.Message, says) {
			t.Errorf("%.40q: %v, not %q", text, err, says)
		}
	}
}

// A hundred folders and 2,000 characters are accepted, one more of either is not.
func TestLimitsOfSourceLinks(t *testing.T) {
	line := func(length int) string {
		const rest = ` https://git.example/{path}`
		return `c:\` + strings.Repeat("x", length-len(`c:\`)-len(rest)) + rest
	}
	commits := func(length int) string {
		const rest = "https://git.example/{base}...{head}"
		return rest + strings.Repeat("x", length-len(rest))
	}
	folders := func(n int) string {
		return strings.Repeat("c:\\src https://git.example/{path}\n# of the build\n\n", n)
	}
	for _, test := range []struct{ files, commits, says string }{
		{folders(99), "", ""},
		{folders(100), "", ""},
		{folders(101), "", "more than 100 folders"},
		{line(1999), "", ""},
		{line(2000), "", ""},
		{line(2001), "", "line 1 is longer than 2000 characters"},
		{"", commits(1999), ""},
		{"", commits(2000), ""},
		{"", commits(2001), "the address is longer than 2000 characters"},
	} {
		_, err := leaks.ParseSourceLinks(test.files, test.commits)
		var field *leaks.FieldError
		if test.says == "" && err != nil || test.says != "" && (!errors.As(err, &field) || field.Message != test.says) {
			t.Errorf("%d characters, %d of commits: %v, not %q", len(test.files), len(test.commits), err, test.says)
		}
	}
}
