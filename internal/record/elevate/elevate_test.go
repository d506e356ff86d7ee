package elevate

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The child finds the name of the pipes before all other flags, and nowhere else.
func TestParent(t *testing.T) {
	for _, test := range []struct{ args, name, rest string }{
		{"--elevated-from=heapdrift-A --pid 7", "heapdrift-A", "--pid 7"},
		{"--pid 7 --elevated-from=heapdrift-A", "", "--pid 7 --elevated-from=heapdrift-A"}, {"", "", ""},
	} {
		name, rest := Parent(strings.Fields(test.args))
		if name != test.name || !slices.Equal(rest, strings.Fields(test.rest)) {
			t.Errorf("%q: %q, %q", test.args, name, rest)
		}
	}
}

// An administrator opens pipes of this machine alone.
func TestCheckName(t *testing.T) {
	for name, want := range map[string]error{
		"heapdrift-ABCXYZ234567": nil, "heapdrift-": errName, "heapdrift": errName, "other-ABC": errName, `heapdrift-A\B`: errName,
		`\\server\pipe\heapdrift-A`: errName, `heapdrift-..\..\server`: errName, "heapdrift-a": errName, "heapdrift-A8": errName, "": errName,
	} {
		if err := checkName(name); !errors.Is(err, want) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// The child takes over what its parent's console has set, except from where programs of the system are started.
func TestAdopted(t *testing.T) {
	got := adopted([]string{"HEAPDRIFT_PROJECT=shop", `=C:=C:\w`, "windir=C:\\evil", "ComSpec=x", "ProgramFiles(x86)=x", "EMPTY=", "A=b=c", "none"})
	if text := fmt.Sprint(got); text != "[[HEAPDRIFT_PROJECT shop] [EMPTY ] [A b=c]]" {
		t.Error(text)
	}
}
