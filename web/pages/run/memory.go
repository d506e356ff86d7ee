package run

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/footprint"
	"heapdrift/internal/store"
	"heapdrift/web/pages/ui"
)

// memory handles GET /runs/:id/memory: all that one piece of evidence says of the process's memory beside sites. The
// parameter "of" is its place in the report; the last one by itself.
func memory(ctx context.Context, c echo.Context, r *reader, run store.Run) (answer, error) {
	if run.AnalysedAt == nil {
		return answer{}, store.ErrNotFound
	}
	summary, err := r.FindSummary(ctx, run.ID)
	if err != nil {
		return answer{}, err
	}
	v := memoryViewOf(run, summary)
	if v == nil {
		return answer{}, store.ErrNotFound
	}
	if of := c.QueryParam("of"); of != "" {
		if v.at, err = strconv.Atoi(of); err != nil || v.at < 0 || v.at >= len(v.list) {
			return answer{}, store.ErrNotFound
		}
	}
	v.Frame = ui.FrameOf(c, fmt.Sprintf("Memory of run %d", run.ID))
	v.Crumbs, v.Upload = append(runCrumbs(run), ui.Crumb{Text: "Memory"}), ui.TargetOfRun(run)
	v.Crumbs[len(v.Crumbs)-2].URL = ui.RunURL(run.ID)
	return answer{page: memoryPage(*v)}, nil
}

// A memoryView is what the evidence of a run says beside sites, with the piece that is shown.
type memoryView struct {
	ui.Frame
	run     store.Run
	list    []analysis.Memory
	history *footprint.MemoryHistory // nil where it is not told
	// stacks are those that the list names.
	stacks *analysis.Stacks
	at     int
}

// memoryViewOf chooses the piece that tells the address space best, the last of several; nil where there is none.
func memoryViewOf(run store.Run, r *analysis.Report) *memoryView {
	if len(r.Memory) == 0 {
		return nil
	}
	v := &memoryView{run: run, list: r.Memory, history: r.MemoryHistory, stacks: r.Stacks}
	for i := range r.Memory {
		if worthOf(&r.Memory[i]) >= worthOf(v.shown()) {
			v.at = i
		}
	}
	return v
}

// worthOf says how much a piece tells of the address space: nothing at all, or the more the surer it is whose it is.
func worthOf(m *analysis.Memory) int {
	if m.Space == nil {
		return 0
	}
	return 1 + formats.Rank(m.Kind)
}

// claiming are the pieces with claims, of each kind the last.
func (v *memoryView) claiming() (list []*analysis.Memory) {
	for i := range v.list {
		m := &v.list[i]
		later := slices.ContainsFunc(v.list[i+1:],
			func(l analysis.Memory) bool { return l.Kind == m.Kind && len(l.Claims) > 0 })
		if len(m.Claims) > 0 && !later {
			list = append(list, m)
		}
	}
	return list
}

// counting is the piece whose heaps are shown: the one that is shown, else the last that has any; nil for none.
func (v *memoryView) counting() *analysis.Memory {
	if len(v.shown().Heaps) > 0 {
		return v.shown()
	}
	for i := len(v.list) - 1; i >= 0; i-- {
		if len(v.list[i].Heaps) > 0 {
			return &v.list[i]
		}
	}
	return nil
}

// shown is the piece that is shown.
func (v *memoryView) shown() *analysis.Memory { return &v.list[v.at] }

func (v *memoryView) url(at int) templ.SafeURL {
	return templ.SafeURL(fmt.Sprintf("/runs/%d/memory?of=%d", v.run.ID, at))
}

// sourceText is who says what is shown.
func sourceText(m *analysis.Memory) string {
	if m.TakenAt == "" {
		return m.Source + ", " + m.File
	}
	return m.Source + ", " + m.File + ", " + localTime(m.TakenAt)
}

// A barPart is one use in the bar of committed memory, in thousandths of its width.
type barPart struct {
	use         capture.UseName
	from, width float64
	title       string
}

// barOf cuts the bar by what is committed, or by what is taken where the evidence does not tell the two apart.
func barOf(s *capture.Space) (parts []barPart, whole int64, word string) {
	size := func(u *capture.UseTotal) int64 { return u.Committed }
	if whole, word = footprint.CommittedBytes(s), "committed"; whole == 0 {
		size = func(u *capture.UseTotal) int64 {
			if u.Name == capture.UseFree {
				return 0
			}
			return u.Reserved
		}
		whole, word = footprint.UsedAddressSpace(s), "taken"
	}
	at := 0.0
	for i := range s.Uses {
		u := &s.Uses[i]
		n := size(u)
		if n <= 0 || whole <= 0 {
			continue
		}
		width := 1000 * float64(n) / float64(whole)
		parts = append(parts,
			barPart{u.Name, at, width,
				fmt.Sprintf("%s: %s, %.1f %%", footprint.NamesOfUse(u.Name).Title, quantity.Bytes(n), width/10)})
		at += width
	}
	return parts, whole, word
}

func thousandths(f float64) string { return strconv.FormatFloat(f, 'f', 2, 64) }

// share is a part of a whole in percent.
func share(part, whole int64) string {
	if whole <= 0 {
		return ""
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole))
}

// holes says how the free address space is cut up; "" where the evidence does not tell.
func holes(s *capture.Space) string {
	part, ok := footprint.Fragmentation(s)
	if !ok {
		return ""
	}
	return fmt.Sprintf("Largest free block: %s at %v. Fragmentation: %.1f %% of the free address space is outside this block.", quantity.Bytes(s.LargestFree), s.LargestFreeAt, 100*part)
}

// reconciled says how the private bytes of the regions stand to what the system counts.
func reconciled(s *capture.Space) string {
	explained, unexplained, ok := footprint.Unexplained(s)
	switch {
	case ok && unexplained >= 0:
		return fmt.Sprintf("Windows charges the process %s of private bytes. The regions above explain %s. The other %s are written pages of images and mapped files, page tables, and reserved memory with commit charge.",
			quantity.Bytes(s.PrivateBytes), quantity.Bytes(explained), quantity.Bytes(unexplained))
	case ok:
		return fmt.Sprintf("Windows charges the process %s of private bytes; the regions above have %s. Some were committed after Windows counted.", quantity.Bytes(s.PrivateBytes), quantity.Bytes(explained))
	case explained > 0:
		return fmt.Sprintf("Private bytes: %s, summed over the regions. The evidence does not have the count of Windows.",
			quantity.Bytes(explained))
	}
	return ""
}

// A groupTable is the groups of one way of grouping.
type groupTable struct {
	title, note string
	rows        []capture.BlockGroup
	grows       bool
	shares      bool // the part of the heap is known
	searched    bool // somebody looked for pointers
}

// groupTables are the tables of a piece, each of its largest groups. Sizes are shown over all heaps where the evidence
// counts them so.
func groupTables(m *analysis.Memory) (list []groupTable) {
	for _, by := range [...]struct{ by, title, note string }{
		{capture.ByManager, "by memory manager", ""},
		{capture.ByType, "by first pointer",
			"The first word of these blocks is an address in a module: mostly of a vtable, which shows the class."},
		{capture.BySize, "by size", ""},
		{capture.ByContent, "by content", "Text is shown only if several blocks begin with it."},
	} {
		t := groupTable{title: by.title, note: by.note}
		whole := slices.ContainsFunc(m.Groups, func(g capture.BlockGroup) bool {
			return g.By == by.by && g.Heap == 0 && (by.by != capture.BySize || g.Key == "")
		})
		for _, g := range m.Groups {
			if g.By != by.by || whole && g.Heap != 0 || len(t.rows) == shownGroups {
				continue
			}
			t.rows = append(t.rows, g)
			t.shares = t.shares || g.Doubtful || analysis.PercentOfHeap(&m.Memory, &g) > 0
			t.grows, t.searched = t.grows || g.Growth != nil, t.searched || g.Unreachable != nil
		}
		if len(t.rows) > 0 {
			list = append(list, t)
		}
	}
	return list
}

// shownGroups is how many groups a table shows; the report as JSON has more.
const shownGroups = 25

// groupShare is the part of its heap that a group is.
func groupShare(m *analysis.Memory, g *capture.BlockGroup) string {
	if g.Doubtful {
		return "implausible"
	}
	if share := analysis.PercentOfHeap(&m.Memory, g); share > 0 {
		return fmt.Sprintf("%.1f %%", share)
	}
	return "–"
}

// shownGaps is how many of what could not be walked are listed.
const shownGaps = 10

// managedBytes is what all managed heaps hold.
func managedBytes(m *analysis.Memory) (bytes int64) {
	for _, h := range m.Managed {
		bytes += h.Bytes
	}
	return bytes
}

// topicWords are how topics of notes are called.
var topicWords = map[string]string{
	capture.TopicComment: "Reason of the dump", capture.TopicProcess: "Process", capture.TopicLeakTrack: "LeakTrack",
	capture.TopicManaged: ".NET",
	capture.TopicError:   "Error", capture.TopicWarning: "Warning", capture.TopicInfo: "Information",
	capture.TopicMethod: "Method",
}

// noteKind is the sign of a note, as those of warnings.
func noteKind(topic string) string {
	switch topic {
	case capture.TopicError:
		return "bad"
	case capture.TopicWarning:
		return "warn"
	}
	return "info"
}

// sampleTitle names an allocation that the evidence shows.
func sampleTitle(s *analysis.Sample) string {
	title := s.Title
	if title == "" {
		title = "Block"
	}
	if s.Address != "" {
		title += " at " + s.Address
	}
	if s.Size > 0 {
		title += ", " + quantity.Bytes(s.Size)
	}
	return title
}

// shownSamples is how many samples are shown of a list.
const shownSamples = 20

// withStacks are the samples that have a stack.
func withStacks(samples []analysis.Sample) (list []analysis.Sample) {
	for _, s := range samples {
		if s.Stack != 0 && len(list) < shownSamples {
			list = append(list, s)
		}
	}
	return list
}

// proofOf is what a search for pointers shows, in a sentence: all that nothing points to, and the place with most of
// it.
func proofOf(list []analysis.UnreachedFinding) string {
	var all analysis.Amount
	most := &list[0]
	for i := range list {
		u := &list[i]
		all.Count, all.Bytes = all.Count+u.Unreachable.Count, all.Bytes+u.Unreachable.Bytes
		if u.Unreachable.Bytes > most.Unreachable.Bytes {
			most = u
		}
	}
	begin := "No pointer was found to"
	if len(list) == analysis.MaxUnreachedFindings {
		begin = fmt.Sprintf("In the %d largest signatures no pointer was found to", len(list))
	}
	text := fmt.Sprintf("%s %s with %s", begin, quantity.Plural(all.Count, "block"), quantity.Bytes(all.Bytes))
	if len(list) == 1 {
		return text + ", all from " + most.Where + "."
	}
	return fmt.Sprintf("%s; most of it, %s, from %s.", text, quantity.Bytes(most.Unreachable.Bytes), most.Where)
}
