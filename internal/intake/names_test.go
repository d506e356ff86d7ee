package intake_test

import (
	"bytes"
	"testing"

	"heapdrift/internal/leaks"
)

// Invisible characters in a name are shown by their numbers, and control characters are removed.
func TestNamesShowWhatIsHidden(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	d := open(t)
	for given, want := range map[string]string{
		"a\u202egpj.txt": "a⟨U+202E⟩gpj.txt", "b\u200b.txt": "b⟨U+200B⟩.txt", "c\x07.txt": "c.txt",
		"d\u2028.txt": "d⟨U+2028⟩.txt", "é.txt": "é.txt",
	} {
		e, err := d.Accept(t.Context(), leaks.UploadTarget{Project: "p", Build: "1", Scenario: "s", Run: "r"}, given,
			bytes.NewReader([]byte("// UMDH: version 10.0.19041.1: Logtime 2025-03-04 12:00 - Machine=LAB - PID=42\n*- - - - - - - - - - Start of data for heap @ 3F0000 - - - - - - - - - -\n")))
		if err != nil || e.Name != want {
			t.Errorf("%q became %q, %v; want %q", given, e.Name, err, want)
		}
	}
}
