package classic

import (
	"testing"

	"heapdrift/tools/leakeval/evaluation/behaviour/behaviourtest"
)

// Some behaviours of this set lose fewer blocks than the other sets have to.
func TestBehaviours(t *testing.T) { behaviourtest.CheckAllocationsGolden(t, Behaviours) }
