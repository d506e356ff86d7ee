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

// Sets are the sets of behaviours, each by another author.
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

// Afterwards returns a set that was written when the method was final, to check it once. None of it is in Tuning or
// HeldOut.
func Afterwards() []behaviour.Behaviour { return afterwards.Behaviours }

// Tuning returns the behaviours by which constants and calibration may be chosen.
func Tuning() []behaviour.Behaviour { return behaviours(false) }

// HeldOut returns the behaviours that figures are published for: nothing is chosen by them.
func HeldOut() []behaviour.Behaviour { return behaviours(true) }

func behaviours(kept bool) (list []behaviour.Behaviour) {
	for _, s := range Sets {
		for _, b := range s.Behaviours {
			if b.IsHeldOut() == kept {
				list = append(list, b)
			}
		}
	}
	return slices.Clip(list)
}
