package pages_test

import (
	"html"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"heapdrift/internal/demo"
	"heapdrift/internal/store/storetest"
	"heapdrift/web/pages/pagestest"
	"heapdrift/worker"
	"heapdrift/worker/workertest"
)

// walkedSignatures is how many signatures are followed: the demo has 500 that are alike.
const walkedSignatures = 8

var (
	hrefOf      = regexp.MustCompile(`href="(/[^"#]*)`)
	unwalked    = regexp.MustCompile(`^/(api/|static/|upload\?|download|licenses|evidence/|setup)|/export|[?&](open|after|leaks_after|sort|per|scale|state|module|owner|q|fn|signature|metric|page|class|from|to|since|until|add|test|thread|size|age|heap|kind)=`)
	signatureIn = regexp.MustCompile(`/signatures/sig1:`)
	scripts     = regexp.MustCompile(`(?s)<(script|style)[^>]*>.*?</(script|style)>`)
	// loneDash is a dash where a sentence has a number, or a name.
	loneDash   = regexp.MustCompile(`[a-z,:] – (in|of|per|from|held|at|by)\b|^– [a-z]`)
	sentences  = regexp.MustCompile(`(?s)<(?:p|h1|h2|li)[ >](.*?)</(?:p|h1|h2|li)>`)
	floatNoise = regexp.MustCompile(`\d\.\d{4,}( s)?`)
	eventTime  = regexp.MustCompile(`^\d\.\d{6} s$`) // of an allocation, in µs as all of its column
	classNames = regexp.MustCompile(`class="([^"]*)"`)
	// drawnClass is the class of a state, a class of growth, an outcome or a status: without a style it is black, or
	// looks like no other.
	drawnClass  = regexp.MustCompile(`^(h|c|s|m|is|l|a|t)-[a-z0-9-]+$`)
	namedLinks  = regexp.MustCompile(`(?s)<a ([^>]*)href="[^"]*(sig1:[0-9a-f]+)[^"]*"[^>]*>(.*?)</a>`)
	dataRows    = regexp.MustCompile(`(?s)<tr data-row=.*?</tr>`)
	chip        = regexp.MustCompile(`class="chip (c-[a-z-]+)"`)
	suspectChip = regexp.MustCompile(`^c-(leak|growing|growing-block|unreferenced|left-at-exit)$`)
	gone        = regexp.MustCompile(`class="chip g-(fixed|not-exercised)"`) // the newer build of a comparison does not show it
	heatCell    = regexp.MustCompile(`class="(h-[a-z-]+)"`)
)

// Every page of the demo says one thing of each leak, and says it whole.
func TestDemoWalk(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	p := workertest.Start(t)
	s := pagestest.Serve(t, p.Store, p.Blobs, &worker.WindowAnswers{Store: p.Store, Blobs: p.Blobs, ColumnBytes: 256 << 20})
	first := pagestest.Must[string](t)(demo.Load(t.Context(), p.Intake, p.Store))
	for _, b := range pagestest.Must[[]int64](t)(runsOf(t, s)) {
		p.AwaitSettled(t, b)
	}
	styles := styled(t)
	seen, queue, kinds := map[string]bool{}, []string{"/", first}, map[string]bool{}
	signatures := 0
	for len(queue) > 0 {
		path := queue[0]
		queue = queue[1:]
		status, page := s.Get(path, "Accept", "text/html")
		if status != http.StatusOK || !strings.Contains(page, "<!doctype html>") {
			if status >= 500 || status == http.StatusNotFound {
				t.Errorf("%s: %d", path, status)
			}
			continue
		}
		checkDemoPage(t, path, scripts.ReplaceAllString(page, ""), styles)
		kinds[regexp.MustCompile(`\d+|sig1:.*|\?.*`).ReplaceAllString(path, "")] = true
		for _, m := range hrefOf.FindAllStringSubmatch(page, -1) {
			to := html.UnescapeString(m[1])
			if seen[to] || unwalked.MatchString(to) {
				continue
			}
			if signatureIn.MatchString(to) {
				if signatures++; signatures > walkedSignatures {
					continue
				}
			}
			seen[to] = true
			queue = append(queue, to)
		}
	}
	for _, kind := range []string{"/", "/projects/shopd", "/runs/", "/projects/shopd/signatures/", "/projects/shopd/compare",
		"/projects/shopd/policy", "/projects/shopd/rules", "/projects/shopd/symbols", "/upload"} {
		if !kinds[kind] {
			t.Errorf("%s was not walked", kind)
		}
	}
}

// runsOf are the runs of the demo.
func runsOf(t *testing.T, s *pagestest.Server) (runs []int64, err error) {
	page, err := storetest.Now(t, s.Store).FindCoverage(t.Context(), demo.Project, 24)
	if err != nil {
		return nil, err
	}
	for i := range page.Cells {
		runs = append(runs, page.Cells[i].RunID)
	}
	return runs, nil
}

// styled are the classes that a style sheet names.
func styled(t *testing.T) map[string]bool {
	t.Helper()
	sheets := pagestest.Must[[]string](t)(filepath.Glob(filepath.Join("..", "assets", "*.css")))
	classes := map[string]bool{}
	for _, sheet := range sheets {
		for _, m := range regexp.MustCompile(`\.([a-z][a-z0-9-]*)`).FindAllStringSubmatch(string(pagestest.Must[[]byte](t)(os.ReadFile(sheet))), -1) {
			classes[m[1]] = true
		}
	}
	return classes
}

func checkDemoPage(t *testing.T, path, page string, styles map[string]bool) {
	t.Helper()
	for _, m := range sentences.FindAllStringSubmatch(page, -1) {
		if text := html.UnescapeString(pagestest.Words(m[1])); loneDash.MatchString(text) {
			t.Errorf("%s: a dash stands for a number: %s", path, text)
		}
	}
	for _, noise := range floatNoise.FindAllString(page, -1) {
		if !strings.HasPrefix(noise, "0.999") && !eventTime.MatchString(noise) { // a probability next to certain
			t.Errorf("%s: %s has digits that nobody measured", path, noise)
		}
	}
	for _, m := range classNames.FindAllStringSubmatch(page, -1) {
		for _, class := range strings.Fields(m[1]) {
			if drawnClass.MatchString(class) && !styles[class] {
				t.Errorf("%s: the class %s has no style", path, class)
			}
		}
	}
	names := map[string]string{}
	for _, m := range namedLinks.FindAllStringSubmatch(page, -1) {
		name := strings.ReplaceAll(html.UnescapeString(pagestest.Words(m[3])), " ", "")
		if !strings.Contains(m[1], `class="name"`) && !strings.Contains(m[1], `class="fn"`) {
			if strings.Contains(name, "|") {
				t.Errorf("%s: %s is called %s", path, m[2], name)
			}
			continue
		}
		if before := names[m[2]]; before != "" && before != name {
			t.Errorf("%s: %s is called %s and %s", path, m[2], before, name)
		}
		names[m[2]] = name
	}
	for _, row := range dataRows.FindAllString(page, -1) {
		checkRow(t, path, row)
	}
}

// checkRow checks that the state of a row agrees with its strip of builds, and with its class where it has no strip.
func checkRow(t *testing.T, path, row string) {
	t.Helper()
	isBad := false
	for _, m := range chip.FindAllStringSubmatch(row, -1) { // of a comparison, the class in the newer build is the last
		isBad = suspectChip.MatchString(m[1])
	}
	if gone.MatchString(row) {
		isBad = false
	}
	if cells := heatCell.FindAllStringSubmatch(row, -1); len(cells) > 0 {
		last := cells[len(cells)-1][1]
		isBad = last == "h-leak" || last == "h-growing" || last == "h-growing-block" || last == "h-unreferenced" ||
			last == "h-left-at-exit"
	}
	text := pagestest.Words(row)
	if strings.Contains(row, "s-new") && !isBad {
		t.Errorf("%s: new, and not there: %s", path, text)
	}
	if strings.Contains(row, "s-fixed") && isBad && !strings.Contains(text, "fixed in ") {
		t.Errorf("%s: fixed, and there: %s", path, text)
	}
}
