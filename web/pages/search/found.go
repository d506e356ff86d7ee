package search

import (
	"strconv"

	"github.com/a-h/templ"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/web/pages/ui"
)

// A group is what was found of one kind.
type group struct {
	name string
	hits []hit
}

// A hit is one line of the list.
type hit struct {
	to       templ.SafeURL
	function string // of a leak, else ""
	text     string
	about    string
	state    leaks.State
}

// groupsOf lists what was found, without kinds of which there is nothing.
func groupsOf(f *store.SearchHits) []group {
	var list []group
	add := func(name string, hits []hit) {
		if len(hits) > 0 {
			list = append(list, group{name, hits})
		}
	}
	add("Leaks", each(f.Leaks, func(l store.LeakHit) hit {
		about := l.Project
		if place := ui.BlamePlace(l.Blame); place != "" {
			about = place + " · " + about
		}
		return hit{to: ui.SignatureURL(l.Project, l.Signature), function: ui.TitleOf(l.Title).Blame, about: about +
			", last leaked in " + ui.OrDash(l.LastBad), state: l.State}
	}))
	add("Projects", each(f.Projects, func(name string) hit { return hit{to: ui.ProjectURL(name), text: name} }))
	add("Modules", each(f.Modules, func(m store.ModuleHit) hit {
		return hit{to: ui.WithFields(ui.ProjectURL(m.Project), []ui.Field{{Name: "q", Value: m.Module}}), text: m.Module,
			about: quantity.Plural(m.Leaks, "leak") + " in " + m.Project}
	}))
	add("Builds", each(f.Builds, func(b store.BuildHit) hit {
		return hit{to: ui.CompareURL(b.Project, "", "", b.Build), text: b.Build, about: b.Project + " " + b.Branch +
			": compare it with its baseline"}
	}))
	add("Runs", each(f.Runs, func(r store.RunHit) hit {
		return hit{to: ui.RunURL(r.ID), text: r.Scenario + ", run " + r.Name, about: r.Project + " " + r.Build + " " +
			ui.StatusText(r.Status) + " #" + strconv.FormatInt(r.ID, 10)}
	}))
	add("Files", each(f.Files, func(e store.FileHit) hit {
		return hit{to: ui.RunURL(e.RunID), text: e.Name, about: e.Project + " " + e.Build}
	}))
	return list
}

// each makes a hit of every value.
func each[T any](list []T, hitOf func(T) hit) []hit {
	var hits []hit
	for _, v := range list {
		hits = append(hits, hitOf(v))
	}
	return hits
}
