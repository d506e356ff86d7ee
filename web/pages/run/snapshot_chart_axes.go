package run

import (
	"math"
	"strconv"
	"time"

	"heapdrift/internal/analysis"
)

// positions places the snapshots by their time where all have one and it rises, else at equal distances.
func positions(snapshots []analysis.Snapshot) (x []float64, timed bool) {
	n := len(snapshots)
	x = make([]float64, n)
	if n == 1 {
		return []float64{barAt}, false
	}
	timed = true
	for i := 1; i < n; i++ {
		timed = timed && snapshots[i].AtNS > snapshots[i-1].AtNS
	}
	for i := range x {
		part := float64(i) / float64(n-1)
		if timed {
			part = float64(snapshots[i].AtNS) / float64(snapshots[n-1].AtNS)
		}
		x[i] = plotInset + part*(plotWidth-2*plotInset)
	}
	return x, timed
}

// drawGrid chooses the scale and returns what its top stands for, in bytes.
func (c *snapshotChart) drawGrid(highest float64) (ceiling float64) {
	c.grid, ceiling = gridOf(highest, plotHeight, 4, 1.12) // room above the highest point for the marks' labels
	return ceiling
}

// gridOf chooses about n lines for a scale of bytes that reaches room times as high as the highest value. It returns
// them with what the top stands for, in bytes.
func gridOf(highest, height, n, room float64) (grid []gridLine, ceiling float64) {
	unit, name := 1.0, "B"
	for _, next := range []string{"KB", "MB", "GB", "TB"} {
		if highest/unit < 1000 {
			break
		}
		unit, name = unit*1024, next
	}
	step := roundStep(highest / unit * room / n)
	lines := math.Ceil(highest / unit * room / step)
	for i := 1.0; i <= lines; i++ {
		text := strconv.FormatFloat(math.Round(i*step*1e6)/1e6, 'f', -1, 64)
		if i == lines {
			text += " " + name
		}
		grid = append(grid, gridLine{y: height * (1 - i/lines), text: text})
	}
	return grid, lines * step * unit
}

// roundStep is the smallest of 1, 2, 5 times a power of ten that is not below v.
func roundStep(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, factor := range []float64{1, 2, 5} {
		if step := factor * power; step >= v*0.999 {
			return step
		}
	}
	return 10 * power
}

// percent places something along the width, so that texts keep their size when the plot is stretched.
func percent(x float64) string { return strconv.FormatFloat(x/plotWidth*100, 'f', 2, 64) + "%" }

// How near two labels along the width may be: any two, and for each digit of numbers, which take 7 px of 310 on the
// narrowest screen.
const (
	labelDistance = 42.0
	digitDistance = 24.0
)

// numberMarks labels the marks that have room for it, the last one first, and gives lower bounds their band.
func (c *snapshotChart) numberMarks() {
	n, free := len(c.marks), math.Inf(1)
	distance := max(labelDistance, digitDistance*float64(len(strconv.Itoa(n))))
	for i := n - 1; i >= 0; i-- {
		m := &c.marks[i]
		if m.x <= free {
			m.number, free = i+1, m.x-distance
		}
		if m.atEnd = n > 1 && i == n-1; m.atEnd {
			free -= distance / 2 // its label ends there
		}
		m.from, m.to = 0, plotWidth
		if i > 0 {
			m.from = (c.marks[i-1].x + m.x) / 2
		}
		if i < n-1 {
			m.to = (c.marks[i+1].x + m.x) / 2
		}
	}
}

// timeSteps are the distances that a time axis may have between its labels.
var timeSteps = []struct {
	step, unit time.Duration
	name       string
}{
	{time.Second, time.Second, "s"}, {5 * time.Second, time.Second, "s"}, {10 * time.Second, time.Second, "s"},
	{30 * time.Second, time.Second, "s"},
	{time.Minute, time.Minute, "min"}, {2 * time.Minute, time.Minute, "min"}, {5 * time.Minute, time.Minute, "min"},
	{10 * time.Minute, time.Minute, "min"}, {30 * time.Minute, time.Minute, "min"},
	{time.Hour, time.Hour, "h"}, {2 * time.Hour, time.Hour, "h"}, {6 * time.Hour, time.Hour, "h"},
	{12 * time.Hour, time.Hour, "h"},
	{24 * time.Hour, 24 * time.Hour, "d"}, {2 * 24 * time.Hour, 24 * time.Hour, "d"},
	{7 * 24 * time.Hour, 24 * time.Hour, "d"}, {30 * 24 * time.Hour, 24 * time.Hour, "d"},
	{365 * 24 * time.Hour, 24 * time.Hour, "d"},
}

// drawTimes labels the axis with the time since the first snapshot.
func (c *snapshotChart) drawTimes(whole time.Duration, x []float64) {
	const labels = 8
	step := timeSteps[len(timeSteps)-1]
	for _, s := range timeSteps {
		if whole/s.step <= labels {
			step = s
			break
		}
	}
	first, last := x[0], x[len(x)-1]
	for at := time.Duration(0); at <= whole && len(c.times) < 400; at += step.step {
		text := strconv.FormatInt(int64(at/step.unit), 10)
		if at == 0 {
			text += " " + step.name
		}
		c.times = append(c.times, label{x: first + (last-first)*float64(at)/float64(whole), text: text, class: "mid"})
	}
}

// mostWords is how many labels with a word fit below the chart on the narrowest screen.
const mostWords = 4

// drawNumbers labels the axis with the numbers of the marks, where their times say nothing. The word is what a mark is.
func (c *snapshotChart) drawNumbers(x []float64, word string) {
	for i, m := range c.marks {
		if m.number == 0 {
			continue
		}
		text := strconv.Itoa(m.number)
		if len(x) <= mostWords {
			text = word + " " + text
		}
		class := "mid"
		if len(x) > 1 && i == 0 {
			class = ""
		} else if m.atEnd {
			class = "y"
		}
		c.times = append(c.times, label{x: m.x, text: text, class: class})
		c.marks[i].number = 0
	}
}
