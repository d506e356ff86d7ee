package analysis

import (
	"testing"

	"heapdrift/ingest/capture"
)

// BenchmarkJudge follows the blocks of twelve snapshots and judges their sites: 20,000 sites, of which one in eight
// grows, and 2,000,000 blocks in all snapshots together or in the last alone.
func BenchmarkJudge(b *testing.B) {
	const sites, snapshots = 20_000, 12
	for name, each := range map[string]int{"2 million blocks in all": 8, "2 million blocks in the last": 100} {
		b.Run(name, func(b *testing.B) {
			s, r := grownSeries(b, sites, snapshots, each)
			list := make([]*judgedSite, len(s.order))
			for i, m := range s.order {
				list[i] = &judgedSite{mergedSite: m, sample: sample{kind: m.key.kind, usage: m.usage, amounts: amounts(m.usage)}}
			}
			b.ReportAllocs()
			for b.Loop() {
				spans, err := s.spans(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				j := s.judgeOf(r, spans)
				for i := range list {
					list[i].sample.spans, list[i].sample.followed = spans.Of(i)
				}
				if err := j.all(b.Context(), list); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(sites*float64(b.N)/b.Elapsed().Seconds(), "sites/s")
		})
	}
}

// grownSeries are snapshots of sites with about the given number of blocks each; one site in eight gets more in each
// snapshot.
func grownSeries(b *testing.B, sites, snapshots, each int) (*series, *Report) {
	var parts []part
	r := &Report{}
	for k := range snapshots {
		c := &capture.Capture{Snapshots: make([]capture.Snapshot, 1), Sites: make([]capture.Site, sites)}
		for i := range c.Sites {
			n := each
			if i%8 == 0 {
				n = each * (k + 1) / snapshots
			}
			c.Sites[i] = capture.Site{Stack: c.Stacks.AddStack([]capture.FrameID{c.Stacks.AddAddress(uint64(0x1000 + 16*i))}),
				Heap: capture.NoHeap, Usage: []capture.Usage{{Count: int64(n), Bytes: int64(64 * n)}}}
			for block := range n {
				at := block
				if i%8 == 1 && block%10 == k%10 { // some are freed and allocated again
					at += each * (k + 1)
				}
				c.Blocks.Add(capture.Block{Site: uint32(i), Address: uint64(i)<<24 + uint64(at)*64, Size: 64})
			}
		}
		parts = append(parts, part{Capture: c})
		r.Snapshots = append(r.Snapshots, Snapshot{AtNS: int64(k) * 60e9})
	}
	s, err := merge(b.Context(), parts)
	if err != nil {
		b.Fatal(err)
	}
	return s, r
}
