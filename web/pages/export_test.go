package pages

// CutName shows how the table cuts a blame frame's name.
func CutName(blame string) (space, name string) {
	n := nameOf(blame)
	return n.space, n.name
}

// PageLinks shows which pages the pager names.
var PageLinks = pageLinks
