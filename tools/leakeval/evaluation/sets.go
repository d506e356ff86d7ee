package evaluation

import (
	"slices"

	"heapdrift/tools/leakeval/evaluation/afterwards"
	"heapdrift/tools/leakeval/evaluation/behaviour"
	"heapdrift/tools/leakeval/evaluation/classic"
	"heapdrift/tools/leakeval/evaluation/deceit"
	"heapdrift/tools/leakeval/evaluation/desktop"
	"heapdrift/tools/leakeval/evaluation/hidden"
	"heapdrift/tools/leakeval/evaluation/servers"
	"heapdrift/tools/leakeval/evaluation/services"
)

// Sets are the sets of behaviours, each by another hand.
var Sets = []struct {
	Name       string
	Behaviours []behaviour.Behaviour
}{
	{"classic", classic.Behaviours},
	{"servers", servers.Behaviours},
	{"desktop", desktop.Behaviours},
	{"services", services.Behaviours},
	{"hidden", hidden.Behaviours},
	{"deceit", deceit.Behaviours},
}

// Afterwards is a set that was written when the method was final, to check it once: none of it is for tuning, nor among
// those kept.
func Afterwards() []behaviour.Behaviour { return afterwards.Behaviours }

// Tuning are the behaviours that constants and calibration may be chosen on, Kept those that figures are published for.
func Tuning() []behaviour.Behaviour { return behaviours(false) }

// Kept are the behaviours that nothing is chosen on.
func Kept() []behaviour.Behaviour { return behaviours(true) }

func behaviours(kept bool) (list []behaviour.Behaviour) {
	for _, s := range Sets {
		for _, b := range s.Behaviours {
			if b.IsKept() == kept {
				list = append(list, b)
			}
		}
	}
	return slices.Clip(list)
}
