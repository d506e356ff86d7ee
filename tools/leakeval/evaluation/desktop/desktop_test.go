package desktop

import (
	"testing"

	"heapdrift/tools/leakeval/evaluation/behaviour/behaviourtest"
)

func TestBehaviours(t *testing.T) { behaviourtest.Check(t, Behaviours) }
