package pages_test

import (
	"fmt"
	"testing"

	"heapdrift/web/pages"
)

func TestNamesAreCutFromTheLeft(t *testing.T) {
	for blame, want := range map[string][2]string{
		"app!main":                          {"app!", "main"},
		"app!Canvas::Draw":                  {"app!", "Canvas::Draw"},
		"app!Gfx::Canvas::Draw":             {"app!Gfx::", "Canvas::Draw"},
		"app!Shop::Orders::Receipt::Append": {"app!Shop::…::", "Receipt::Append"},
		"app!A::B::Canvas::operator<<":      {"app!A::…::", "Canvas::operator<<"},
		"app!A::Map<int,B::C>::operator[]":  {"app!A::", "Map<int,B::C>::operator[]"},
		"app!A::P::operator->":              {"app!A::", "P::operator->"},
		"app!A::P::operator()":              {"app!A::", "P::operator()"},
		"app!A::`anonymous namespace'::Run": {"app!A::", "`anonymous namespace'::Run"},
		"app!A::f::<lambda_1>::operator()":  {"app!A::…::", "<lambda_1>::operator()"},
		"app!std::map<int,std::basic_string<char,std::char_traits<char>>>::insert": {"app!std::", "map<…>::insert"},
		"app!`A::B'::`2'::C::D": {"app!`A::B'::…::", "C::D"},
		"app!::Global":          {"app!", "::Global"},
		"app!A::":               {"app!", "A::"},
		"plugin+0x2a40":         {"", "plugin+0x2a40"},
		"0x7ff612345678":        {"", "0x7ff612345678"},
		"app!a<b":               {"app!", "a<b"},
		"app!x>::>y::z":         {"app!x>::", ">y::z"},
	} {
		space, name := pages.CutName(blame)
		if got := [2]string{space, name}; got != want {
			t.Errorf("%s: %q, want %q", blame, got, want)
		}
	}
}

func FuzzNames(f *testing.F) {
	f.Add("app!A::`anon'::B<int>::operator<<")
	f.Fuzz(func(t *testing.T, blame string) {
		space, name := pages.CutName(blame)
		if blame != "" && space+name == "" {
			t.Errorf("%q: nothing is left", blame)
		}
	})
}

func TestPager(t *testing.T) {
	for _, test := range []struct {
		page, last int
		want       string
	}{
		{1, 1, "[1]"}, {1, 4, "[1 2 3 4]"}, {1, 9, "[1 2 3 0 9]"}, {3, 5, "[1 2 3 4 5]"}, {1000, 2000, "[1 0 998 999 1000 1001 1002 0 2000]"}, {2000, 2000, "[1 0 1998 1999 2000]"},
	} {
		if got := fmt.Sprint(pages.PageLinks(test.page, test.last)); got != test.want {
			t.Errorf("page %d of %d: %s, want %s", test.page, test.last, got, test.want)
		}
	}
}
