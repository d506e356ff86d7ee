package windbg

import (
	"bytes"
	"slices"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/quantity"
)

const sourceUses = "!address -summary"

// uses reads !address -summary of either generation. The newer one has five tables:
//
//	--- Usage Summary ---------------- RgnCount ----------- Total Size -------- %ofBusy %ofTotal
//	<unknown>                               912      200`00000000 (   2.000 TB)  99.99%    1.56%
//	--- Type Summary (for busy) ------ RgnCount ...
//	--- State Summary ---------------- RgnCount ...
//	--- Protect Summary (for commit) - RgnCount ...
//	--- Largest Region by Usage ----------- Base Address -------- Region Size ----------
//	Free                                    210`00000000     7b00`00000000 ( 123.000 TB)
//
// and the older one three:
//
//	-------------------- Usage SUMMARY --------------------------
//	    TotSize (      KB)   Pct(Tots) Pct(Busy)   Usage
//	   12000000 (  294912) : 14.06%    36.00%    : RegionUsageIsVAD
//	       Tot: 7fff0000 (2097088 KB) Busy: 32000000 (819200 KB)
//	Largest free region: Base 6b000000 - Size 02000000 (32768 KB)
//
// Sizes are hexadecimal bytes.
type uses struct {
	r       *reader
	in      *instant
	space   *capture.Space
	byUse   map[capture.UseName]*capture.UseTotal
	old     bool
	table   table
	wrapped *int64 // size of a row whose name is to come in the next line; nil for none
	excerpt bool   // it began with a row: names tell the tables
	seen    [tables]bool
	sums    [tables]int64
}

// A table is one of those in the output.
type table int

const (
	tableUses table = iota
	tableTypes
	tableStates
	tableProtections
	tableLargest
	tables
)

// titles are parts of the lines that begin the tables, in the order of the constants, in lower case.
var titles = [tables]string{"usage summary", "type summary", "state summary", "protect summary",
	"largest region by usage"}

// titleOf tells which table a line begins.
func titleOf(text []byte) (t table, old, ok bool) {
	if text[0] != '-' || len(text) > 256 {
		return 0, false, false
	}
	lower := bytes.ToLower(text)
	for i, title := range titles {
		if bytes.Contains(lower, []byte(title)) {
			return table(i), !bytes.Contains(lower, []byte("rgncount")) && table(i) != tableLargest, true
		}
	}
	return 0, false, false
}

func openUses(r *reader, text []byte) section {
	t, old, ok := titleOf(text)
	if !ok {
		return nil
	}
	s := newUses(r, old)
	s.enter(t)
	return s
}

func newUses(r *reader, old bool) *uses {
	s := &uses{r: r, in: r.begin(sourceUses, sourceUses), byUse: map[capture.UseName]*capture.UseTotal{},
		space: &capture.Space{}, old: old}
	s.in.m.Space = s.space
	return s
}

func (s *uses) enter(t table) {
	s.table, s.seen[t] = t, true
}

func (s *uses) line(text []byte) bool {
	if t, old, ok := titleOf(text); ok {
		if s.seen[t] || t != tableLargest && old != s.old {
			return false // the command ran again
		}
		s.enter(t)
		return true
	}
	if s.takeWrapped(text) {
		return true
	}
	if row, rest, found := bytes.Cut(text, []byte("Largest free region: Base ")); found && s.old {
		s.largestFree(rest)
		if row = bytes.TrimSpace(row); len(row) > 0 { // a page joined it to the last row
			s.oldRow(row)
		}
		return true
	}
	if t, old, ok := tableOfRow(text); ok && s.excerpt && old == s.old && t != s.table {
		if s.seen[t] {
			return false
		}
		s.enter(t)
	}
	if s.old {
		return s.oldRow(text) || bytes.HasPrefix(text, []byte("TotSize")) || bytes.HasPrefix(text, []byte("Tot:"))
	}
	return s.row(text)
}

// row takes "name count size (rounded) shares"; in the table of the largest regions the count is the base. The name may
// have blanks, and is missing where a page has taken <unknown> for markup.
func (s *uses) row(text []byte) bool {
	open := bytes.IndexByte(text, '(')
	if open <= 0 {
		return false
	}
	end := bytes.IndexByte(text[open:], ')')
	if end < 0 && bytes.IndexByte(text, '%') < 0 {
		return false
	}
	head, amount := cutWord(text[:open])
	name, count := cutWord(head)
	bytesOf, ok := size(amount)
	if !ok || end < 0 {
		s.in.malformed.add(s.r.in.number)
		return true
	}
	if !agrees(bytesOf, text[open+1:open+end]) {
		s.in.contradict(s.r.in.number, "!address -summary rounds a size to another one; the exact one counts")
	}
	if s.table == tableLargest {
		base, isAddress := hex(count)
		if !isAddress {
			s.in.malformed.add(s.r.in.number)
			return true
		}
		s.largest(name, base, bytesOf)
		return true
	}
	regions, isCount := decimal(count)
	if !isCount {
		s.in.malformed.add(s.r.in.number)
		return true
	}
	s.add(name, regions, bytesOf)
	return true
}

// cutWord takes the last word off a line.
func cutWord(b []byte) (rest, word []byte) {
	b = bytes.TrimRight(b, " \t")
	at := bytes.LastIndexAny(b, " \t") + 1
	return bytes.TrimRight(b[:at], " \t"), b[at:]
}

// takeWrapped takes the name of the row before, which a mail or a page wrapped onto a line of its own, and reports
// whether the line is one. A row without a name counts as not understood.
func (s *uses) takeWrapped(text []byte) bool {
	if s.wrapped == nil {
		return false
	}
	amount := *s.wrapped
	s.wrapped = nil
	w := split(text)
	_, isShare := tableOf(w.words[0])
	if w.n != 1 || !isShare && !bytes.HasPrefix(text, []byte("RegionUsage")) {
		s.in.malformed.add(s.r.in.number)
		return false
	}
	s.add(text, 0, amount)
	return true
}

// oldRow takes "size (KiB) : shares : name".
func (s *uses) oldRow(text []byte) bool {
	w := split(text)
	if w.n < 4 || hexValue[text[0]] < 0 {
		return false
	}
	open, end := bytes.IndexByte(text, '('), bytes.IndexByte(text, ')')
	colon := bytes.LastIndexByte(text, ':')
	if open < 0 || end < open || colon < end {
		return false
	}
	bytesOf, ok := size(bytes.TrimSpace(text[:open]))
	kib, isNumber := decimal(bytes.TrimSpace(text[open+1 : end]))
	name := bytes.TrimSpace(text[colon+1:])
	if ok && isNumber && len(name) == 0 {
		s.wrapped = &bytesOf
		return true
	}
	if !ok || !isNumber {
		s.in.malformed.add(s.r.in.number)
		return true
	}
	if bytesOf>>10 != kib {
		s.in.contradict(s.r.in.number, "!address -summary gives one size in bytes and another in KiB; the bytes count")
	}
	name, _ = bytes.CutSuffix(name, []byte(" *")) // a remark of the page that quotes it
	s.add(name, 0, bytesOf)
	return true
}

// add takes a row of any table but that of the largest regions.
func (s *uses) add(name []byte, regions, amount int64) {
	s.sums[s.table] = sum(s.sums[s.table], amount)
	if s.table == tableUses {
		u := s.use(useOf(name))
		u.Regions, u.Reserved = sum(u.Regions, regions), sum(u.Reserved, amount)
		return
	}
	list := map[table]*[]capture.Share{tableTypes: &s.space.Types, tableStates: &s.space.States,
		tableProtections: &s.space.Protections}[s.table]
	const most = 100 // combinations of protections
	if list == nil || string(name) == "<free>" || len(*list) == most {
		return
	}
	*list = append(*list, capture.Share{Name: plain(name), Regions: regions, Bytes: amount})
}

func (s *uses) use(name capture.UseName) *capture.UseTotal {
	u := s.byUse[name]
	if u == nil {
		u = &capture.UseTotal{Name: name}
		s.byUse[name] = u
	}
	return u
}

func (s *uses) largest(name []byte, base uint64, amount int64) {
	use := useOf(name)
	if u := s.use(use); amount > u.Largest {
		u.Largest = amount
		if use == capture.UseFree {
			s.space.LargestFree, s.space.LargestFreeAt = amount, capture.Address(base)
		}
	}
}

// largestFree reads "6b000000 - Size 02000000 (32768 KB)".
func (s *uses) largestFree(rest []byte) {
	w := split(rest)
	base, ok := hex(w.words[0])
	amount, okSize := size(w.words[3])
	if w.n < 4 || !ok || !okSize || string(w.words[2]) != "Size" {
		s.in.malformed.add(s.r.in.number)
		return
	}
	s.largest([]byte("free"), base, amount)
}

func (s *uses) close() {
	if s.wrapped != nil {
		s.in.malformed.add(s.r.in.number)
	}
	for _, name := range capture.UseNames {
		if u := s.byUse[name]; u != nil {
			s.space.Uses = append(s.space.Uses, *u)
		}
	}
	if !s.excerpt && s.seen[tableUses] && s.seen[tableStates] && s.sums[tableUses] != s.sums[tableStates] {
		s.in.contradict(s.r.in.number, "the uses of !address -summary make %s bytes and the states %s: rows are missing",
			quantity.Count(s.sums[tableUses]), quantity.Count(s.sums[tableStates]))
	}
	if len(s.space.Uses) > 0 {
		s.in.addNote(s.r, capture.TopicMethod,
			"!address -summary has one size for each use: reserved and committed memory together")
		return
	}
	if len(s.space.States)+len(s.space.Types)+len(s.space.Protections) == 0 {
		s.in.m.Space = nil
	}
	s.in.truncate(s.r.in.number, "!address -summary has no table of uses: the log is cut short or an excerpt")
}

// useNames says which use is meant, in lower case and without the bits of WOW64 ("Heap32"). What is not here is the
// system's.
var useNames = map[string]capture.UseName{
	"": capture.UsePrivate, "<unknown>": capture.UsePrivate, "unknown": capture.UsePrivate,
	"regionusageisvad": capture.UsePrivate,
	"heap":             capture.UseHeap, "regionusageheap": capture.UseHeap,
	"pageheap": capture.UsePageHeap, "regionusagepageheap": capture.UsePageHeap,
	"image": capture.UseImage, "regionusageimage": capture.UseImage,
	"stack": capture.UseStack, "regionusagestack": capture.UseStack,
	"teb": capture.UseTEB, "regionusageteb": capture.UseTEB,
	"peb": capture.UsePEB, "regionusagepeb": capture.UsePEB,
	"mappedfile": capture.UseMapped, "regionusagemappedfile": capture.UseMapped,
	"free": capture.UseFree, "regionusagefree": capture.UseFree,
}

func useOf(name []byte) capture.UseName {
	lower := bytes.ToLower(bytes.TrimSpace(name))
	for _, bits := range []string{"32", "64"} {
		lower = bytes.TrimSuffix(lower, []byte(bits))
	}
	if use, ok := useNames[string(lower)]; ok {
		return use
	}
	return capture.UseSystem
}

// roundings are the units that the debugger rounds to, by their first letter in lower case.
var roundings = []byte("bkmgtp")

// agrees reports whether "  321.223 MB" is the size, rounded.
func agrees(exact int64, rounded []byte) bool {
	w := split(rounded)
	if w.n != 2 {
		return true
	}
	power := slices.Index(roundings, w.words[1][0]|0x20)
	whole, part, _ := bytes.Cut(w.words[0], []byte("."))
	v, ok := decimal(whole)
	if power < 0 || !ok || len(part) > 6 {
		return true
	}
	f := float64(v)
	for i, scale := 0, 0.1; i < len(part); i, scale = i+1, scale/10 {
		f += float64(part[i]-'0') * scale
	}
	for range power {
		f *= 1024
	}
	return f >= float64(exact)*0.99-1 && f <= float64(exact)*1.01+1
}
