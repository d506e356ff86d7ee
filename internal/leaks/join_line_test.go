package leaks_test

import (
	"testing"

	"heapdrift/internal/leaks"
)

func TestLineSignature(t *testing.T) {
	for name, test := range map[string]struct {
		leaks.LineSignature
		want leaks.LineAction
	}{
		"of one leak":                            {leaks.LineSignature{ID: 1, RootID: 1, IntoID: 2}, leaks.JoinLine},
		"of several":                             {leaks.LineSignature{ID: 1, RootID: 1}, leaks.KeepLine},
		"that is the leak":                       {leaks.LineSignature{ID: 1, RootID: 1, IntoID: 1}, leaks.KeepLine},
		"taken back before":                      {leaks.LineSignature{ID: 1, RootID: 1, IntoID: 2, WasPart: true}, leaks.KeepLine},
		"part of it":                             {leaks.LineSignature{ID: 1, RootID: 2, IntoID: 2, IsPart: true, WasPart: true, By: leaks.ActorLine}, leaks.KeepLine},
		"part of another":                        {leaks.LineSignature{ID: 1, RootID: 3, IntoID: 2, IsPart: true, WasPart: true, By: leaks.ActorLine}, leaks.LeaveLine},
		"part of one, and of several in the run": {leaks.LineSignature{ID: 1, RootID: 3, IsPart: true, WasPart: true, By: leaks.ActorLine}, leaks.LeaveLine},
		"part of another by hand":                {leaks.LineSignature{ID: 1, RootID: 3, IntoID: 2, IsPart: true, By: "ann"}, leaks.KeepLine},
		"part of another as it moved":            {leaks.LineSignature{ID: 1, RootID: 3, IntoID: 2, IsPart: true}, leaks.KeepLine},
	} {
		if got := test.Action(); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}
