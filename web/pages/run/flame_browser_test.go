package run_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"testing"

	cdp "github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"heapdrift/internal/query"
	"heapdrift/web/assets"
	"heapdrift/web/pages/pagestest"
)

// flamePage serves a page with the icicle of a tree.
func flamePage(t testing.TB, tree any) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle(assets.Prefix, assets.Handler())
	mux.HandleFunc("/tree", func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(tree) })
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, `<!doctype html><html lang="en"><head><title>icicle</title><link rel="stylesheet" href="`+assets.URL("tokens.css")+`"><link rel="stylesheet" href="`+assets.URL("pages.css")+`"><link rel="stylesheet" href="`+assets.URL("flame.css")+`">
<script defer src="`+assets.URL("sizes.js")+`"></script><script defer src="`+assets.URL("flame-tree.js")+`"></script><script defer src="`+assets.URL("flame.js")+`"></script></head><body><main>
<section class="flame" data-flame="/tree"><div class="toolbar"><input type="search" class="flame-find"><span class="flame-found"></span>
<button data-flame-do="fold">Fold</button><button data-flame-do="invert">Invert</button><button data-flame-do="focus">Focus</button><button data-flame-do="hide">Hide</button><button data-flame-do="reset">All</button><span class="flame-hidden"></span></div>
<canvas class="flame-mini" height="32"></canvas><nav class="flame-path"></nav><canvas class="flame-canvas" tabindex="0"></canvas><p class="flame-live"></p><p class="flame-note"></p>
<div class="tall-tree"><table class="flame-tree"><tbody></tbody></table></div></section></main></body></html>`)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// smallTree is three stacks: one of the team's own code, one through an allocator, and one that shrinks in a
// comparison.
func smallTree() *query.Tree {
	return &query.Tree{
		Schema: query.TreeSchema, Metric: "growth", Unit: "bytes",
		Names:  []string{"all", "app!main", "app!Serve", "app!Cache::Add", "ntdll!RtlAllocateHeap", "app!Warm"},
		Layers: []string{"", "own", "own", "own", "allocator", "own"}, Places: []string{"", "main.cpp:1", "", "", "", ""},
		Classes: []string{"leak", "stable"},
		Nodes: query.TreeNodes{
			Depth: []int32{0, 1, 2, 3, 4, 2, 3}, Name: []int32{0, 1, 2, 3, 4, 5, 3}, Class: []int32{0, 0, 0, 0, 0, 1, 1},
			Self: []int64{0, 0, 0, 0, 3072, 0, 1024}, Blocks: []int64{0, 0, 0, 0, 3, 0, 1},
		},
	}
}

func TestIcicleInBrowser(t *testing.T) {
	b := pagestest.Browse(t)
	b.Do(cdp.EmulateViewport(1200, 800), cdp.Navigate(flamePage(t, smallTree())))
	rows := `[...document.querySelectorAll(".flame-tree tr")].map(r => r.cells[0].innerText.trim() + " " + r.cells[1].innerText).join("|")`
	// Allocators are folded: their memory counts as their caller's.
	b.See(rows + ` === "all 4.00 KB|app!main 4.00 KB|app!Serve 3.00 KB|app!Cache::Add 3.00 KB|app!Warm 1.00 KB"`)
	b.Do(pagestest.Press(`[data-flame-do="fold"]`))
	b.See(rows + `.includes("ntdll!RtlAllocateHeap 3.00 KB") && location.search === "?fold=0"`)
	b.Do(pagestest.Press(`[data-flame-do="fold"]`), pagestest.Press(`[data-flame-do="invert"]`))
	b.See(rows + ` === "all 4.00 KB|app!Cache::Add 4.00 KB|app!Serve 3.00 KB|app!main 3.00 KB|app!Warm 1.00 KB" && location.search === "?invert=1"`)
	// Reloading the address shows the same.
	b.Do(cdp.Reload())
	b.See(rows + `.startsWith("all 4.00 KB|app!Cache::Add 4.00 KB|app!Serve 3.00 KB")`)
	b.Do(pagestest.Press(`[data-flame-do="reset"]`))
	b.See(`location.search === "" && document.querySelector(".flame").flame.root === 0`)
	// Keys: down to main, Serve; right to its sibling; Enter zooms, Escape goes out; f looks at one function, h hides one.
	b.Do(pagestest.Focused(".flame-canvas"), cdp.KeyEvent(kb.ArrowDown), cdp.KeyEvent(kb.ArrowDown),
		cdp.KeyEvent(kb.ArrowRight))
	b.See(`document.querySelector(".flame-live").innerText.startsWith("app!Warm")`)
	b.Do(cdp.KeyEvent(kb.Enter))
	b.See(`document.querySelector(".flame-path").innerText.replace(/\s+/g, " ").includes("all main Warm")`)
	b.Do(cdp.KeyEvent(kb.Escape), cdp.KeyEvent("0"), cdp.KeyEvent(kb.ArrowDown),
		cdp.KeyEvent(kb.ArrowDown), cdp.KeyEvent("f"))
	b.See(rows + ` === "all 3.00 KB|app!Serve 3.00 KB|app!Cache::Add 3.00 KB" && location.search === "?of=app%21Serve"`)
	b.Do(pagestest.Press(`[data-flame-do="reset"]`), pagestest.Focused(".flame-canvas"), cdp.KeyEvent(kb.ArrowDown),
		cdp.KeyEvent("h"))
	b.See(rows + ` === "all 4.00 KB|app!Serve 3.00 KB|app!Cache::Add 3.00 KB|app!Warm 1.00 KB" && document.querySelector(".flame-hidden").innerText.includes("main") && new URLSearchParams(location.search).getAll("hide").join() === "app!main"`)
	b.Do(cdp.Reload())
	b.See(rows + `.startsWith("all 4.00 KB|app!Serve 3.00 KB")`)
	b.Do(pagestest.Press(`[data-flame-do="reset"]`), pagestest.Typed(".flame-find", "warm"))
	b.See(`document.querySelector(".flame-found").innerText === "1 found, 1.00 KB, 25.0 % of the width"`)
	// Keys move through the table, and a row that is chosen is also chosen in the picture.
	b.Do(pagestest.Focused(`.flame-tree tr[tabindex="0"]`), cdp.KeyEvent(kb.ArrowDown), cdp.KeyEvent(kb.ArrowDown))
	b.See(`document.activeElement.cells[0].innerText.trim() === "app!Serve" && document.querySelector(".flame").flame.chosen === 2`)
	b.Do(cdp.KeyEvent(kb.ArrowLeft))
	b.See(`document.querySelectorAll(".flame-tree tr").length === 4`)
}

// A comparison is as wide as the larger side, and coloured by the change.
func TestIcicleOfTwoInBrowser(t *testing.T) {
	b, tree := pagestest.Browse(t), smallTree()
	tree.Nodes.Self, tree.Nodes.Before, tree.Nodes.After = nil, []int64{0, 0, 0, 0, 1024, 0, 2048},
		[]int64{0, 0, 0, 0, 3072, 0, 1024}
	b.Do(cdp.EmulateViewport(1200, 800), cdp.Navigate(flamePage(t, tree)))
	b.See(`document.querySelector(".flame").flame?.t?.total[0] === 5120`)
	b.See(`[...document.querySelectorAll(".flame-tree tr")].some(r => r.innerText.includes("app!Warm") && r.cells[3].innerText === "▼ −1.00 KB")`)
	b.See(`(() => { const f = document.querySelector(".flame").flame; return f.colour(2) !== f.colour(4) && f.strength(2) === 1 && f.strength(4) < 1; })()`)
}

// largeTree is a tree of n nodes.
func largeTree(n int) *query.Tree {
	r := rand.New(rand.NewPCG(1, 2))
	tree := &query.Tree{Schema: query.TreeSchema, Unit: "bytes", Names: []string{"all"}, Layers: []string{""},
		Places: []string{""}, Classes: []string{"leak", "cache", "stable"}}
	for i := range 5000 {
		tree.Names = append(tree.Names, fmt.Sprintf("module%d!Space::Class%d::Method%d", i%40, i%500, i))
		tree.Layers, tree.Places = append(tree.Layers, "own"), append(tree.Places, "file.cpp:1")
	}
	depth := int32(0)
	for i := range n {
		tree.Nodes.Depth, tree.Nodes.Name, tree.Nodes.Class = append(tree.Nodes.Depth, depth),
			append(tree.Nodes.Name, int32(i%5001)), append(tree.Nodes.Class, int32(r.IntN(3)))
		tree.Nodes.Self, tree.Nodes.Blocks = append(tree.Nodes.Self, int64(r.IntN(5000))), append(tree.Nodes.Blocks, 1)
		depth = 1 + int32(r.IntN(int(min(depth+1, 40))))
	}
	return tree
}

// BenchmarkIcicle draws trees in Chromium. It measures the time from the API's text to the first picture, with and
// without folding the tree anew, and the time of the picture after a zoom.
func BenchmarkIcicle(b *testing.B) {
	for _, nodes := range []int{10_000, 100_000, 300_000} {
		b.Run(fmt.Sprint(nodes), func(b *testing.B) {
			tab := pagestest.Browse(b)
			tab.Do(cdp.EmulateViewport(1440, 900), cdp.Navigate(flamePage(b, largeTree(nodes))))
			tab.See(`document.querySelector(".flame").flame?.t?.depth.length > 100`)
			var sums [4]float64
			b.ResetTimer()
			for b.Loop() {
				times := pagestest.Must[[]float64](b)(cdp.Run(tab.Ctx, cdp.Evaluate[[]float64](`(() => {
					const f = document.querySelector(".flame").flame, text = window.treeText || (window.treeText = (() => { const x = new XMLHttpRequest(); x.open("GET", "/tree", false); x.send(); return x.responseText; })());
					f.o.fold = false;
					const t0 = performance.now(), json = JSON.parse(text), t1 = performance.now();
					f.load(json); f.paint(); const t2 = performance.now();
					f.root = 1; f.paint(); const t3 = performance.now();
					f.o.fold = true; f.remake(); f.paint(); const t4 = performance.now();
					f.o.fold = false;
					return [t1 - t0, t2 - t1, t3 - t2, t4 - t3];
				})()`)))
				for i := range sums {
					sums[i] += times[i]
				}
			}
			for i, name := range []string{"parse-ms", "first-ms", "zoom-ms", "remake-ms"} {
				b.ReportMetric(sums[i]/float64(b.N), name)
			}
		})
	}
}
