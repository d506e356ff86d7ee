package score

// A knot is a point of a calibration: of what the model gave the probability model, the share real leaked.
type knot struct{ model, real float64 }

// A calibration turns the model's probability into how often such growth has been a leak: a rising line through knots, from
// (0, 0) to (1, 1).
type calibration []knot

// of is 0 for what the model excludes, and rises with p.
func (c calibration) of(p float64) float64 {
	if !(p > 0) {
		return 0
	}
	from, to := knot{}, knot{1, 1}
	for _, k := range c {
		if p < k.model {
			to = k
			break
		}
		from = k
	}
	if to.model <= from.model {
		return 1
	}
	return probability(from.real + (to.real-from.real)*(p-from.model)/(to.model-from.model))
}

func calibrateSnapshots(model float64, snapshots int) float64 {
	i := min(max(snapshots-2, 0), len(snapshotCalibrations)-1)
	return snapshotCalibrations[i].of(model)
}

func calibrateTrace(model float64) float64 { return traceCalibration.of(model) }
