package evaluation

import (
	"fmt"
	"slices"

	"heapdrift/internal/analysis/score"
)

// Pooled judges the runs of each process together: one case for each of its stacks.
func Pooled(all []Cases) []Cases {
	var list []Cases
	for _, c := range all {
		type key struct{ process, stack int }
		var order []key
		runs := map[key][]*Case{}
		for i := range c.List {
			k := key{c.List[i].Process, c.List[i].Stack}
			if runs[k] == nil {
				order = append(order, k)
			}
			runs[k] = append(runs[k], &c.List[i])
		}
		pooled := Cases{Snapshots: c.Snapshots}
		for _, k := range order {
			pooled.List = append(pooled.List, pool(runs[k]))
			pooled.Name = fmt.Sprintf("%s, %d runs", c.Name, len(runs[k]))
		}
		list = append(list, pooled)
	}
	return list
}

func pool(runs []*Case) Case {
	sum := *runs[0]
	evidence := make([]*score.Evidence, len(runs))
	for i, c := range runs {
		evidence[i] = c.Evidence
	}
	together, ok := score.JudgeTogether(evidence)
	if !ok {
		return sum
	}
	sum.Class, sum.Score, sum.Certain, sum.Rivals = score.ClassGrowing, together.Score, together.Certain, nil
	switch {
	case together.Leaks:
		sum.Class = score.ClassLeak
	case slices.ContainsFunc(runs, func(c *Case) bool { return c.Class == score.ClassGrowingBlock }):
		sum.Class = score.ClassGrowingBlock
	}
	return sum
}
