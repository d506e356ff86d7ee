package analysis

import (
	"context"

	"heapdrift/ingest/capture"
)

// merge makes one series of the snapshots of all parts.
func (d *draft) merge(ctx context.Context) (err error) {
	d.series, err = merge(ctx, d.parts)
	return err
}

// findUnreachable counts, by site, the blocks that nothing points to.
func (d *draft) findUnreachable(ctx context.Context) error {
	if err := d.series.joinUnreachable(ctx, d.others); err != nil {
		return err
	}
	return d.series.agree(ctx)
}

// describeSeries lists what the series is of, before any site is looked at.
func (d *draft) describeSeries() {
	r, s := d.report, d.series
	r.Modules, r.Snapshots, r.MatchedBy = modules(d.parts, d.opt.Names), s.snapshots(), s.matchedBy()
	r.Work = s.work(d.opt.WorkUnit)
	d.table = newFrameTable(r)
}

func (d *draft) describeTrace() {
	last := d.parts[len(d.parts)-1]
	if last.Trace == nil {
		return
	}
	d.report.Trace, d.report.Window = traceOf(last.Trace), new(windowOf(last.Trace.Window))
	d.series.checkCoverage(last)
}

// settle leaves the time of Options.Settle out of what is judged, where the evidence tells what lies in it.
func (d *draft) settle() {
	if d.opt.Settle > 0 {
		d.settled = d.series.settle(d.report.Snapshots, d.opt.Settle)
	}
}

func (d *draft) prepareJudge(ctx context.Context) (err error) {
	if d.spans, err = d.series.spans(ctx); err != nil {
		return err
	}
	d.judge = d.series.judgeOf(d.report, d.spans)
	d.judged = d.report.Snapshots[d.judge.first:d.judge.last]
	return nil
}

// sumUp adds the sites up by kind, by heap and by instant.
func (d *draft) sumUp() {
	if d.shape == capture.ShapeTrace {
		d.series.fillTraceTotals(d.report)
	} else {
		d.series.fillTotals(d.report)
	}
}

// measurePower says which leaks the evidence would have shown, and divides its time for Finding.Stayed.
func (d *draft) measurePower() {
	d.report.Power, d.powerless = d.judge.power(d.report, d.sites)
	d.report.PartLengths = d.judge.stretches(d.report)
}

func (d *draft) countFrames() { countFrames(d.report, d.table) }

// warnOfSeries collects the warnings about the parts and their symbols, the readers' first.
func (d *draft) warnOfSeries() {
	d.doubted = d.series.doubted
	d.report.Warnings = append(append([]Warning{}, readerWarnings(d.parts)...), d.series.warnings...)
	d.report.Warnings = append(d.report.Warnings, d.series.sampledWarning()...)
	d.report.Warnings = append(d.report.Warnings, d.symbolWarnings()...)
}
