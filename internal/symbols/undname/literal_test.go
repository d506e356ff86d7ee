package undname

import "testing"

// Behind a string literal nothing may follow, except where only the name is asked for and no identifier goes on.
func TestEndOfALiteral(t *testing.T) {
	for _, test := range []struct {
		rest  string
		flags Flags
		top   bool
		want  bool
	}{
		{"", 0, false, true}, {"a", 0, true, false}, {"@", 0, true, false}, {"@", NameOnly, true, true}, {"@", NameOnly, false, false},
		{"a", NameOnly, true, false}, {"a", CurrentGrammar, false, true},
	} {
		d := decoder{name: test.rest, flags: test.flags}
		if got := d.literalEnds(test.top); got != test.want {
			t.Errorf("%+v: %t", test, got)
		}
	}
}
