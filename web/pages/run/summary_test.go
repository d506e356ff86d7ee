package run_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/windbg"
	"heapdrift/internal/analysis"
	"heapdrift/internal/blob"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
	"heapdrift/internal/testdb"
	"heapdrift/web/pages/pagestest"
)

// Rows that an older version wrote have summaries in the former layout: the pages show them alike.
func TestSummariesOfTheLayoutBefore(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	url := testdb.New(t)
	db := pagestest.Must[*store.Store](t)(store.Open(t.Context(), url))
	t.Cleanup(db.Close)
	s := pagestest.Serve(t, db, pagestest.Must[blob.Store](t)(blob.Open(t.Context(), "file://"+t.TempDir())), nil)
	stop := pagestest.Must[[]*capture.Capture](t)(windbg.Read(t.Context(),
		strings.NewReader("=======================================\nVERIFIER STOP 00000900: pid 0x4E4C: A heap allocation was leaked.\n\n"+
			"\t191A7BE0 : Address of the leaked allocation.\n\n0:000> !heap -p -a 191a7be0\n    address 191a7be0 found in\n    _HEAP @ 460000\n"+
			"      HEAP_ENTRY Size Prev Flags    UserPtr UserSize - state\n        191a7bd8 0003 0000  [00]   191a7be0    00010 - (busy)\n"+
			"        77e0c5a6 ntdll!RtlAllocateHeap+0x00000274\n        00401a2b app!Order::Keep+0x0000002b\n        00401000 app!main+0x00000100\n\n")))
	stacks := 0
	for k, captures := range [][]*capture.Capture{dumps(t), {walkthrough(t)}, stop,
		pagestest.CapturesOf(pagestest.Shop, 6)} {
		to := pagestest.DefaultTarget
		to.Build = fmt.Sprint(5000 + k)
		run := pagestest.AddRun(t, db, to, captures)
		paths := []string{fmt.Sprintf("/runs/%d", run)}
		if code, _ := s.Get(fmt.Sprintf("/runs/%d/memory", run)); code == 200 {
			paths = append(paths, fmt.Sprintf("/runs/%d/memory", run))
		}
		var before []string
		for _, path := range paths {
			before = append(before, pagestest.Words(s.Page(path)))
		}
		storetest.EditSummary(t, url, run, func(text []byte) []byte {
			old, n := layoutBefore(t, text)
			stacks += n
			return old
		})
		for i, path := range paths {
			if after := pagestest.Words(s.Page(path)); after != before[i] {
				t.Errorf("%s: %s\n%s", path, after, before[i])
			}
		}
	}
	if stacks < 3 {
		t.Errorf("%d stacks in all summaries", stacks)
	}
}

// layoutBefore turns a summary into what an older version stored, and says how many stacks it names.
func layoutBefore(t *testing.T, text []byte) ([]byte, int) {
	t.Helper()
	var r map[string]any
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	frames, stacks, n := r["frames"].([]any), r["stacks"].([]any), 0
	var visit func(v any)
	visit = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, one := range v {
				visit(one)
			}
		case map[string]any:
			for name, one := range v {
				at, ok := one.(float64)
				if name != "stack" || !ok {
					visit(one)
					continue
				}
				delete(v, name)
				if at >= 0 {
					n++
					var list []any
					for _, number := range stacks[int(at)].([]any) {
						list = append(list, frames[int(number.(float64))])
					}
					v[name] = list
				}
			}
		}
	}
	delete(r, "frames")
	delete(r, "stacks")
	visit(r)
	r["schema"], r["findings"], r["sites"] = analysis.Schema1, nil, nil
	return pagestest.Must[[]byte](t)(json.Marshal(r)), n
}
