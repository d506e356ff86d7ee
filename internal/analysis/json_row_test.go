package analysis

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"
)

// Rows are read as encoding/json reads them, whatever they hold and however they are wrong.
func TestRowsAsJSON(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
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
		if row := sameOnce(t, string(changed), decode); try == 0 && !row.refused {
			read = 1
		}
	}
	return read
}

// Numbers are read as far as their fields can hold them, and larger ones are refused as encoding/json refuses them.
func TestNumbersAsJSON(t *testing.T) {
	for _, number := range []string{
		"0", "-0", "-1", "00", "01", "-", "9223372036854775807", "9223372036854775808", "-9223372036854775807",
		"-9223372036854775808", "-9223372036854775809", "10000000000000000000", "18446744073709551616", "1.0", "1e3",
	} {
		sameOnce(t, `{"signature":"a","outstanding":{"count":`+number+`,"bytes":1}}`, decodeSite)
	}
	for _, number := range []string{"4294967295", "4294967296", "-1"} {
		sameOnce(t, `{"line":`+number+`}`, decodeFrame)
		sameOnce(t, `[`+number+`]`, decodeStack)
	}
	for _, number := range []string{"-2", "-1", "0", "2147483646", "2147483647", "null"} {
		sameOnce(t, `{"stack":`+number+`}`, decodeSite)
	}
	for _, number := range []string{"0.5", "0.", ".5", "-0.5", "--1", "1-1", "null"} {
		sameOnce(t, `{"score":`+number+`}`, decodeSite)
	}
}

func sameOnce[T any](t *testing.T, text string, decode func(*rowText, []byte, *T) error) *rowText {
	t.Helper()
	var row rowText
	var got, want T
	err, wrong := decode(&row, []byte(text), &got), json.Unmarshal([]byte(text), &want)
	if (err == nil) != (wrong == nil) || err == nil && !reflect.DeepEqual(got, want) {
		t.Fatalf("%s is read as %+v, %v; want %+v, %v", text, got, err, want, wrong)
	}
	return &row
}

// A text that is cut off at any byte, behind letters or escapes, is read as encoding/json reads it.
func TestTextsAsJSON(t *testing.T) {
	for _, before := range []string{"", "a", `\\`, `\"`, `a\u003c`, `\n`, `\`} {
		for c := range 256 {
			for _, after := range []string{`}`, `"}`, `,"kind":"x"}`, ``} {
				sameOnce(t, `{"signature":"`+before+string([]byte{byte(c)})+after, decodeSite)
			}
		}
	}
}
