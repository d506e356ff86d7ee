package symsrv

import "strings"

// A question is one URL of a server.
type question struct {
	way  []string // below the server's URL
	form Form
}

// questions returns what to ask for, in order. Most servers take the key as it is written; those that follow SSQP want
// it, and the name, in lower case. A miss is repeated below the first two letters, as PerfView does, unless the server
// is known to be flat.
func (s *search) questions(t tiers) []question {
	name, key := s.want.Name, s.want.Key()
	lowerName, lowerKey := strings.ToLower(name), strings.ToLower(key)
	ways := [][]string{{name, key}, {name, lowerKey}, {lowerName, lowerKey}}
	var all []question
	seen := make(map[string]bool)
	add := func(way []string, pointers bool) {
		if seen[strings.Join(way, "/")] {
			return
		}
		seen[strings.Join(way, "/")] = true
		file := way[len(way)-2]
		way = way[:len(way):len(way)]
		all = append(all, question{append(way, file), FormPlain}, question{append(way, CompressedName(file)), FormCompressed})
		if pointers {
			all = append(all, question{append(way, pointerName), FormPointer})
		}
	}
	tiered := func(way []string) []string { return append([]string{tierOf(way[0])}, way...) }
	if t == twoTiers {
		add(tiered(ways[0]), true)
	}
	add(ways[0], true)
	add(ways[1], false)
	add(ways[2], false)
	switch t {
	case twoTiers:
		add(tiered(ways[2]), false)
	case flatTiers, tiersUnknown:
		add(tiered(ways[0]), false)
	case flatOnly:
	}
	return all
}
