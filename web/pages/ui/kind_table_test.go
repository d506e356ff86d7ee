package ui_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/web/pages/ui"
)

// The evidence that a finding was judged by is as certain as the finding; other evidence says nothing so sure. No score
// reads as certainty that it is not.
func TestScoresOfKinds(t *testing.T) {
	p, q := 0.9978, 0.002
	list := []analysis.KindResult{{Kind: "etl", Verdict: analysis.ClassLeak, Score: &p},
		{Kind: "umdh", Verdict: analysis.ClassLeak, Score: &p}, {Kind: "dump", Verdict: analysis.ClassStable, Score: &q}}
	for certain, want := range map[bool][]string{
		true:  {"0.998 certain", "0.998 very likely", "0.002 unlikely"},
		false: {"0.998 very likely", "0.998 very likely", "0.002 unlikely"},
	} {
		var page strings.Builder
		if err := ui.KindTable(list, certain).Render(t.Context(), &page); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range regexp.MustCompile(`title="([0-9.]+): estimated probability[^>]*>([^<]*)<`).FindAllStringSubmatch(page.String(), -1) {
			got = append(got, m[1]+" "+m[2])
		}
		if !slices.Equal(got, want) {
			t.Errorf("certain %v: %q, want %q", certain, got, want)
		}
	}
}
