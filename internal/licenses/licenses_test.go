package licenses_test

import (
	"os"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"heapdrift/internal/licenses"
)

var some = []licenses.Text{
	{Uses: []licenses.Use{{licenses.Own, "", "LICENSE"}, {"example.com/a", "v1.0.0", "LICENSE"}},
		Text: "Do what you like.\n\n==\n=====\n"},
	{Uses: []licenses.Use{{licenses.Go, "", "LICENSE"}}, Text: "Do less.\n"},
	{Uses: []licenses.Use{{"example.com/a", "v1.0.0", "copied/LICENSE"}, {"example.com/windows", "v2.0.0", "COPYING"}},
		Text: "Say who wrote it.\n"},
	{Uses: []licenses.Use{{"example.com/windows", "v2.0.0", "NOTICE"}}, Text: "Somebody wrote it.\n"},
	{Uses: []licenses.Use{{"script.js", "2.0.11", "script.LICENSE.txt"}}, Text: "Keep this.\n"},
}

func TestFile(t *testing.T) {
	var b strings.Builder
	if err := licenses.Write(&b, some); err != nil {
		t.Fatal(err)
	}
	got, err := licenses.Parse(b.String())
	if err != nil || !reflect.DeepEqual(got, some) {
		t.Errorf("read %+v (%v), want %+v", got, err, some)
	}
}

func TestMistakes(t *testing.T) {
	for name, text := range map[string]licenses.Text{
		"looks like a heading": {Uses: []licenses.Use{{"a", "v1", "LICENSE"}}, Text: "first\n==== second\n"},
		"begins like one":      {Uses: []licenses.Use{{"a", "v1", "LICENSE"}}, Text: "==== first\n"},
		"a space":              {Uses: []licenses.Use{{"a", "v1", "THE LICENSE"}}, Text: "first\n"},
	} {
		if err := licenses.Write(&strings.Builder{}, []licenses.Text{text}); err == nil {
			t.Errorf("%s: written", name)
		}
	}
	if _, err := licenses.Parse("==== a\n\ntext\n"); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("a heading of one word: error %v", err)
	}
}

func TestOf(t *testing.T) {
	a, windows := &debug.Module{Path: "example.com/a", Version: "v1.0.0"},
		&debug.Module{Path: "example.com/windows", Version: "v2.0.0"}
	for _, tt := range []struct {
		name    string
		modules []*debug.Module
		want    []int // uses of each text that is left
		missing []string
	}{
		{"all", []*debug.Module{a, windows}, []int{2, 1, 2, 1, 1}, nil},
		{"another system", []*debug.Module{a}, []int{2, 1, 1, 1}, nil},
		{"no modules", nil, []int{1, 1, 1}, nil},
		{"an unknown module", []*debug.Module{a, {Path: "example.com/new", Version: "v0.1.0"}}, []int{2, 1, 1, 1},
			[]string{"example.com/new v0.1.0"}},
		{"another version", []*debug.Module{{Path: "example.com/a", Version: "v1.0.1"}}, []int{1, 1, 1},
			[]string{"example.com/a v1.0.1"}},
		{"in place of another", []*debug.Module{{Path: "example.com/b", Version: "v3.0.0", Replace: a}},
			[]int{2, 1, 1, 1}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			used, missing := licenses.Of(some, tt.modules)
			var uses []int
			for _, text := range used {
				uses = append(uses, len(text.Uses))
			}
			if !slices.Equal(uses, tt.want) || !slices.Equal(missing, tt.missing) {
				t.Errorf("uses %v, missing %v; want %v, %v", uses, missing, tt.want, tt.missing)
			}
		})
	}
}

// What is embedded is the file that people read.
func TestEmbedded(t *testing.T) {
	text, err := os.ReadFile("licenses.txt")
	if err != nil {
		t.Fatal(err)
	}
	want, err := licenses.Parse(string(text))
	got, err2 := licenses.Collected()
	if err != nil || err2 != nil || len(got) < 10 || !reflect.DeepEqual(got, want) {
		t.Errorf("%d texts are embedded, licenses.txt has %d (%v, %v): run make generate", len(got), len(want), err, err2)
	}
}
