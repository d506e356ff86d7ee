package analysis

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"
)

// Rows are read as encoding/json reads them, whatever they hold and whatever is wrong in them.
func TestRowsAsJSON(t *testing.T) {
	r := randomRows{rand.New(rand.NewPCG(9, 10))}
	read := 0 // rows that encoding/json was not needed for
	for range 4000 {
		site, frame, stack := r.site(), r.frame(), []uint32{r.Uint32(), r.Uint32()}[:r.IntN(3)]
		text, err := appendSite(nil, &site)
		if err != nil {
			t.Fatal(err)
		}
		read += sameAsJSON(t, r, text, decodeSite)
		sameAsJSON(t, r, mustJSON(t, frame), decodeFrame)
		sameAsJSON(t, r, mustJSON(t, stack), decodeStack)
	}
	if read < 100 {
		t.Errorf("only %d of 4000 sites were read without encoding/json", read)
	}
}

func mustJSON(t *testing.T, v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// sameAsJSON decodes a row, and the row with a byte changed, missing or twice.
func sameAsJSON[T any](t *testing.T, r randomRows, text []byte, decode func(*rowText, []byte, *T) error) (read int) {
	t.Helper()
	var row rowText
	for try := range 4 {
		at := r.IntN(len(text))
		changed := append([]byte(nil), text...)
		switch try {
		case 1:
			changed[at] = ` "{}[],:0123456789-.\\enult`[r.IntN(26)]
		case 2:
			changed = append(changed[:at], changed[at+1:]...)
		case 3:
			changed = append(changed[:at+1], text[at:]...)
		}
		var got, want T
		err, wrong := decode(&row, changed, &got), json.Unmarshal(changed, &want)
		if (err == nil) != (wrong == nil) || err == nil && !reflect.DeepEqual(got, want) {
			t.Fatalf("%s\n is read as %+v, %v\n want        %+v, %v", changed, got, err, want, wrong)
		}
		if try == 0 && !row.refused {
			read = 1
		}
	}
	return read
}
