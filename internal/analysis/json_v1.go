package analysis

import (
	"encoding/json"
	"errors"
)

// Schema1 is the layout that came before Schema: each site held its frames. ReadJSON converts it.
const Schema1 = "heapdrift.report/v1"

// The shapes of the layout before, which held frames where this one names stacks.
type (
	siteV1 struct {
		Site
		Stack   []*Frame   `json:"stack"`
		Aliases [][]*Frame `json:"aliases"`
	}
	sampleV1 struct {
		Sample
		Stack []*Frame `json:"stack"`
	}
	claimV1 struct {
		ToolClaim
		Stack   []*Frame   `json:"stack"`
		Samples []sampleV1 `json:"samples"`
	}
	memoryV1 struct {
		Memory
		Claims  []claimV1  `json:"claims"`
		Samples []sampleV1 `json:"samples"`
	}
	reportedV1 struct {
		ReportedLeaks
		Stack []*Frame `json:"stack"`
	}
	reportV1 struct {
		Report
		Memory   []memoryV1   `json:"memory"`
		Reported []reportedV1 `json:"reported_leaks"`
	}
)

func (in *reportReader) addSiteV1(v *siteV1) error {
	var err error
	if v.Site.Stack, err = in.report.Stacks.Add(v.Stack); err != nil {
		return err
	}
	for _, frames := range v.Aliases {
		ref, err := in.report.Stacks.Add(frames)
		if err != nil {
			return err
		}
		v.AliasStacks = append(v.AliasStacks, ref)
	}
	in.report.Sites = append(in.report.Sites, v.Site)
	return nil
}

func (in *reportReader) headV1(text []byte) error {
	var v reportV1
	if err := json.Unmarshal(text, &v); err != nil {
		return err
	}
	stacks, sites, findings := in.report.Stacks, in.report.Sites, in.report.Findings
	*in.report = v.Report
	in.report.Stacks, in.report.Sites, in.report.Findings = stacks, sites, findings
	var err error
	add := func(frames []*Frame) StackRef {
		ref, failed := stacks.Add(frames)
		err = errors.Join(err, failed)
		return ref
	}
	samples := func(list []sampleV1) (out []Sample) {
		for _, s := range list {
			s.Sample.Stack = add(s.Stack)
			out = append(out, s.Sample)
		}
		return out
	}
	for _, m := range v.Memory {
		m.Memory.Samples = samples(m.Samples)
		for _, c := range m.Claims {
			c.ToolClaim.Stack, c.ToolClaim.Samples = add(c.Stack), samples(c.Samples)
			m.Memory.Claims = append(m.Memory.Claims, c.ToolClaim)
		}
		in.report.Memory = append(in.report.Memory, m.Memory)
	}
	for _, l := range v.Reported {
		l.ReportedLeaks.Stack = add(l.Stack)
		in.report.Reported = append(in.report.Reported, l.ReportedLeaks)
	}
	return err
}
