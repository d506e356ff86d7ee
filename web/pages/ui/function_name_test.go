package ui_test

import (
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/web/pages/ui"
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
		name := ui.CutName(blame)
		if got := [2]string{name.Space, name.Name}; got != want {
			t.Errorf("%s: %q, want %q", blame, got, want)
		}
	}
}

func FuzzNames(f *testing.F) {
	f.Add("app!A::`anon'::B<int>::operator<<")
	f.Fuzz(func(t *testing.T, blame string) {
		name := ui.CutName(blame)
		if blame != "" && name.Space+name.Name == "" {
			t.Errorf("%q: nothing is left", blame)
		}
	})
}

// A frame has its module and offset. A log that names a function alone gives neither.
func TestFrameName(t *testing.T) {
	for want, f := range map[string]*analysis.Frame{
		"app!A::Add+0x1f":        {Module: "app", Function: "A::Add", Offset: "0x1f"},
		"app!A::Add+0x0":         {Module: "app", Function: "A::Add", Offset: "0x0"},
		"app!A::Add [inlined]":   {Module: "app", Function: "A::Add", Offset: "0x1f", Inline: true},
		"cart.cpp:64-byte-block": {Function: "cart.cpp:64-byte-block", Offset: "0x0"},
		"A::Add+0x1f":            {Function: "A::Add", Offset: "0x1f"},
	} {
		if got := ui.FrameName(t, f); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
