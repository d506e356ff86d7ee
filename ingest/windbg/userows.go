package windbg

import "bytes"

// openUseRows opens an excerpt of !address -summary that begins with a row of a table that its name tells.
func openUseRows(r *reader, text []byte) section {
	t, old, ok := tableOfRow(text)
	if !ok {
		return nil
	}
	s := newUses(r, old)
	s.enter(t)
	s.excerpt = true
	s.line(text)
	return s
}

// tableOfRow is the table that a row is of, and whether it is of the older generation:
//
//	1b7bd000 (  450292) : 21.47%   : MEM_COMMIT
//	MEM_COMMIT                             1831        1`40000000 (   5.000 GB)   0.21%    0.00%
func tableOfRow(text []byte) (t table, old, ok bool) {
	open := bytes.IndexByte(text, '(')
	if open <= 0 || bytes.IndexByte(text[open:], '%') < 0 {
		return 0, false, false
	}
	if hexValue[text[0]] >= 0 {
		if _, isSize := hex(bytes.TrimSpace(text[:open])); isSize {
			name := split(text[bytes.LastIndexByte(text, ':')+1:]).words[0]
			if bytes.HasPrefix(name, []byte("RegionUsage")) {
				return tableUses, true, true
			}
			t, ok = tableOf(name)
			return t, true, ok
		}
	}
	head, amount := cutWord(text[:open])
	name, count := cutWord(head)
	_, isSize := hex(amount)
	_, isCount := decimal(count)
	if !isSize || !isCount || !bytes.Contains(text[open:], []byte("B)")) {
		return 0, false, false
	}
	if t, ok = tableOf(split(name).words[0]); ok {
		return t, false, true
	}
	use, known := useNames[string(bytes.ToLower(name))]
	return tableUses, false, known && use != "" && len(name) > 0 || string(name) == "Other"
}

// tableOf is the table of a name that Windows gives.
func tableOf(name []byte) (table, bool) {
	switch string(name) {
	case "MEM_COMMIT", "MEM_FREE", "MEM_RESERVE":
		return tableStates, true
	case "MEM_IMAGE", "MEM_MAPPED", "MEM_PRIVATE", "<free>":
		return tableTypes, true
	}
	return tableProtections, bytes.HasPrefix(name, []byte("PAGE_"))
}
