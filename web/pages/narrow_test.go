package pages_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"heapdrift/web/pages/pagestest"
)

var (
	narrowBlock = regexp.MustCompile(`@media \(max-width[^{]*\{((?:[^{}]*\{[^{}]*\})*)`)
	cssRule     = regexp.MustCompile(`([^{}]+)\{([^{}]*)\}`)
	givesColour = regexp.MustCompile(`(?:^|[;{\s])(?:color|background|background-color|fill|opacity):\s*([^;}]+)`)
)

// Style sheets colour nothing on narrow screens but what their checks look at: all other colours are those of the wide
// screen.
func TestColoursOfNarrowScreens(t *testing.T) {
	sheets, err := filepath.Glob(filepath.Join("..", "assets", "*.css"))
	if err != nil || len(sheets) == 0 {
		t.Fatalf("no style sheets: %v", err)
	}
	var known []string
	for _, selector := range strings.Split(pagestest.ColouredWhenNarrow, ", ") {
		known = append(known, regexp.QuoteMeta(selector)+`(?:\W|$)`)
	}
	looked := regexp.MustCompile(strings.Join(known, "|"))
	rules := 0
	for _, sheet := range sheets {
		text, err := os.ReadFile(sheet)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range narrowBlock.FindAllStringSubmatch(string(text), -1) {
			for _, rule := range cssRule.FindAllStringSubmatch(block[1], -1) {
				rules++
				for _, colour := range givesColour.FindAllStringSubmatch(rule[2], -1) {
					for _, selector := range strings.Split(rule[1], ",") {
						if strings.TrimSpace(colour[1]) != "none" && !looked.MatchString(selector) {
							t.Errorf("%s: on narrow screens %s is coloured (%s): add it to colouredWhenNarrow",
								filepath.Base(sheet), strings.TrimSpace(selector), strings.TrimSpace(colour[0]))
						}
					}
				}
			}
		}
	}
	if rules < 50 {
		t.Errorf("only %d rules for narrow screens were read", rules)
	}
}
