package leaks

import (
	"fmt"
	"strconv"

	domain "heapdrift/internal/leaks"
)

// branchName is how a page calls a branch; builds without one are of the default line.
func branchName(branch string) string {
	if branch == "" {
		return "no branch"
	}
	return branch
}

// standingOnLine is how a leak stands on a branch in the newest build that shows it there.
func standingOnLine(l *domain.LineState) domain.Standing {
	seen := domain.BuildView{Build: l.LastSeen, FirstBad: l.Since, LastBad: l.LastBad, FixedIn: l.FixedIn}
	if n := len(l.Odds); n > 0 {
		seen.CleanSince = l.Odds[n-1].Build != l.LastBad && l.Odds[n-1].Probability != nil
	}
	return l.State.StandingIn(seen)
}

// cameIn is the interval in which a leak came in on a line.
func cameIn(l *domain.LineState) string {
	switch {
	case l.Found:
		return "in the first build, " + l.Since
	case l.After != "":
		return fmt.Sprintf("between %s and %s", l.After, l.Since)
	case l.Since != "":
		return "in " + l.Since + "; no older build was tested"
	}
	return "–"
}

// cleanIn is the last clean build of a line, and how fast the leak may have been at most in it.
func cleanIn(l *domain.LineState) string {
	switch {
	case l.LastClean == "":
		return "–"
	case l.CleanBound == nil:
		return l.LastClean
	}
	return l.LastClean + ": " + l.CleanBound.Text()
}

// An oddsBar is the probability of a leak in one run, as a bar.
type oddsBar struct {
	x, y, height float64
	class        string
	says         string
}

// The size of the bars of a line, in the units of the drawing.
const (
	oddsWidth  = 8
	oddsHeight = 15
	leastBar   = 1.5 // a bar of no probability still shows that the build was run
)

func oddsBars(list []domain.RunOdds) []oddsBar {
	bars := make([]oddsBar, len(list))
	for i, o := range list {
		b := oddsBar{x: float64(i) * oddsWidth, height: leastBar, class: "h-other",
			says: "build " + o.Build + ": inconclusive"}
		if p := o.Probability; p != nil {
			b.height, b.class = max(leastBar, *p*oddsHeight), "h-clean"
			if *p >= 0.5 {
				b.class = "h-leak"
			}
			b.says = fmt.Sprintf("build %s: %.0f %%", o.Build, 100**p)
		}
		b.y = oddsHeight - b.height
		bars[i] = b
	}
	return bars
}

// oddsBox is the view of the drawing.
func oddsBox(bars []oddsBar) string {
	return fmt.Sprintf("0 0 %d %d", max(1, len(bars))*oddsWidth, oddsHeight)
}

func coordinate(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }

// saysOdds tells the bars to readers who do not see them.
func saysOdds(list []domain.RunOdds) string {
	n := 0
	for _, o := range list {
		if o.Probability != nil && *o.Probability >= 0.5 {
			n++
		}
	}
	return fmt.Sprintf("probable in %d of %d runs", n, len(list))
}
