package score

import "math"

// mostSums is how many sums the intervals between snapshots are added up to: with more, noise makes ever more of them
// fall.
const mostSums = 12

// earlyShare is the share of the time at the beginning whose blocks had time to be freed.
const earlyShare = 0.76

// intervals are what a series shows from one snapshot to the next: element i is between snapshots i and i+1.
type intervals struct {
	rises  []float64 // of the count
	load   []float64 // how much work the process did, as its other signatures tell, in shares of 1
	clocks []clock   // the load first, then time, and a counter of work where uploads carry one
}

// steady is how the rises look.
func (v *intervals) steady() reading { return v.read(v.rises, len(v.rises)) }

// read compares what came in the first k intervals with the clocks.
func (v *intervals) read(came []float64, k int) reading {
	return read(came, sumsOf(k, mostSums), v.clocks)
}

// endings are the shares of the load from which on a leak still has to leave blocks.
var endings = [...]float64{0.5, 0.6, 0.7, 0.8, 0.87}

// goesOn is by how many standard deviations fewer blocks came in an ending of the load than its share of all, in the
// ending in which that is most; 0 where as many did. Growth that stopped shows here, wherever it did.
func goesOn(came, load []float64) float64 {
	var all, total float64
	for i := range load {
		all += came[i]
		total += load[i]
	}
	if !(total > 0) || !(all > 0) {
		return 0
	}
	worst := 0.0
	for _, from := range endings {
		late, share := after(came, load, from*total)
		expected := share / total * all
		worst = min(worst, (late-expected)/math.Sqrt(expected+1))
	}
	return max(-mostShort, worst)
}

// after sums what came after so much of the load, and the load itself, by the middle of each interval.
func after(came, load []float64, from float64) (late, share float64) {
	done := 0.0
	for i, l := range load {
		if done+l/2 > from {
			late += came[i]
			share += l
		}
		done += l
	}
	return late, share
}

// emptyIntervals is in how many intervals nothing should have come by chance, had all come at the pace of the load, and
// the share of all intervals that are empty though something should have: each counts with the probability of that.
func emptyIntervals(came, load []float64) (expected, gaps float64) {
	var all, total float64
	for i := range load {
		all += came[i]
		total += load[i]
	}
	if !(all > 0) || !(total > 0) {
		return 0, 0
	}
	for i := range load {
		empty := math.Exp(-load[i] / total * all)
		expected += empty
		if came[i] == 0 {
			gaps += 1 - empty
		}
	}
	return expected, gaps / float64(len(load))
}

// mostShort bounds goesOn.
const mostShort = 10

// conditions are those of KindFollowed. Where ages and endings exclude a leak already, whatever the shapes are, these
// are not read: they cost most, and count as met.
func (c *cohorts) conditions(steady float64, v *intervals, at []float64, m *model) []float64 {
	last := c.n - 1
	stayed := c.stayed[1:c.n]
	ended, _ := c.ended()
	_, gaps := emptyIntervals(stayed, v.load)
	list := []float64{
		steady, mostOdds, mostOdds, c.oldest - ended,
		-math.Log((c.deaths + fewDeaths) / (c.risk + fewDeaths)), goesOn(stayed, v.load), -gaps,
	}
	if m != nil && m.logOdds(list) < poolLeast {
		return list
	}
	early := 0
	for early < last && at[early+1] <= earlyShare {
		early++
	}
	list[1], list[2] = v.read(stayed[:last-1], last-1).odds, v.read(stayed, max(early, 2)).odds
	return list
}

// fewDeaths is what is added to the deaths of old blocks and to the time that they were at risk: where there were next
// to no old blocks, nothing is known of them.
const fewDeaths = 0.3

// survivors are the blocks that came and were seen at least twice, in every snapshot since.
func (c *cohorts) survivors() (n float64) {
	for k := 1; k < c.n-1; k++ {
		n += c.stayed[k]
	}
	return n
}
