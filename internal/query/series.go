package query

import (
	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
)

// ClassSeries returns the bytes that the signatures of each class hold at each snapshot of the run, of one kind of
// memory; "" is all but heap-virtual.
func (x *Index) ClassSeries(kind string) map[analysis.Class][]int64 {
	all := map[analysis.Class][]int64{}
	for i := range x.report.Sites {
		site := &x.report.Sites[i]
		if kind != "" && site.Kind != kind || kind == "" && site.Kind == capture.KindHeapVirtual.String() {
			continue
		}
		class := site.Verdict
		if at := x.places[x.numbers[i]]; at >= 0 {
			class = x.report.Findings[at].Verdict
		}
		sum := all[class]
		if sum == nil {
			sum = make([]int64, len(x.report.Snapshots))
			all[class] = sum
		}
		for k := range min(len(site.Series), len(sum)) {
			sum[k] += site.Series[k].Bytes
		}
	}
	return all
}
