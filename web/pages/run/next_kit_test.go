package run

import (
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/store"
)

// An inconclusive run leads to the kit that would decide it; a decided one, and one that a window decides, to none.
func TestKitURL(t *testing.T) {
	for _, tt := range []struct {
		name  string
		image string
		trace bool
		next  *analysis.Next
		want  string
	}{
		{"decided", "app.exe", false, nil, ""},
		{"snapshots", "app.exe", false, &analysis.Next{Evidence: analysis.NextSnapshots, Snapshots: 2, SnapshotsToBeCertain: 7},
			"/projects/shop/kit?evidence=umdh&image=app.exe&scenario=soak&snapshots=7"},
		{"certain already", "app.exe", false, &analysis.Next{Evidence: analysis.NextSnapshots, Snapshots: 2},
			"/projects/shop/kit?evidence=umdh&image=app.exe&scenario=soak&snapshots=2"},
		{"dumps", "App.EXE", false, &analysis.Next{Evidence: analysis.NextDumps, Snapshots: 2, SnapshotsToBeCertain: 9},
			"/projects/shop/kit?evidence=procdump&image=App.EXE&scenario=soak&snapshots=2"},
		{"longer", "app.exe", false, &analysis.Next{Evidence: analysis.NextLonger},
			"/projects/shop/kit?evidence=umdh&image=app.exe&scenario=soak"},
		{"longer trace", "app.exe", true, &analysis.Next{Evidence: analysis.NextLonger},
			"/projects/shop/kit?evidence=wpr&image=app.exe&scenario=soak"},
		{"losses", "app.exe", true, &analysis.Next{Evidence: analysis.NextComplete},
			"/projects/shop/kit?evidence=wpr&image=app.exe&scenario=soak"},
		{"window", "app.exe", true, &analysis.Next{Evidence: analysis.NextWindow}, ""},
		{"no name", "", false, &analysis.Next{Evidence: analysis.NextSnapshots, Snapshots: 2}, ""},
	} {
		r := &analysis.Report{}
		r.Process.Name, r.Verdict.Next = tt.image, tt.next
		if tt.trace {
			r.Trace = &analysis.Trace{}
		}
		v := runView{run: store.Run{Project: "shop", Scenario: "soak"}, report: &reportView{Report: r}}
		if got := v.kitURL(); string(got) != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	if got := (runView{}).kitURL(); got != "" {
		t.Errorf("without a report: %s", got)
	}
}
