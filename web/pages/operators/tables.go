package operators

import (
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/store"
	"heapdrift/web/pages/ui"
)

func queueTable(v *view) *ui.Table {
	t := ui.NewTable("Queue", "hover", ui.Col("Kind"), ui.Col("State"), ui.NumCol("Jobs"), ui.NumCol("Oldest job"),
		ui.NumCol("Most attempts")).Region()
	for _, q := range v.queue {
		state := []templ.Component{ui.Text(q.State)}
		if q.State == "failed" {
			state = append(state, ui.Muted("in the last day"))
		}
		t.Row(ui.TextCell("", q.Kind), ui.PartCell("", state...), ui.CountCell(q.Count), ui.NumCell(age(q.Oldest)),
			ui.NumCell(strconv.Itoa(q.Attempts)))
	}
	return t
}

func nodesTable(v *view) *ui.Table {
	t := ui.NewTable("Servers and workers", "hover", ui.Col("Role"), ui.Col("Host"), ui.NumCol("PID"), ui.Col("Version"),
		ui.NumCol("Schema"), ui.Col("Since"), ui.Col("State")).Region()
	for i := range v.nodes {
		n := &v.nodes[i]
		t.Row(ui.TextCell("", n.Role), ui.TextCell("mono", n.Host), ui.NumCell(pid(n)), ui.TextCell("", n.Version),
			ui.NumCell(strconv.FormatInt(n.SchemaVersion, 10)), ui.PartCell("muted", ui.Time(n.StartedAt)),
			ui.PartCell("", nodeState(v, n)))
	}
	return t
}

func causesTable(v *view) *ui.Table {
	t := ui.NewTable("Failures by cause", "hover", ui.Col("Error"), ui.NumCol("Jobs"), ui.NumCol("Runs"), ui.Col("Last"),
		ui.Col("Action")).Region()
	for i := range v.causes {
		f := &v.causes[i]
		t.Row(ui.PartCell("", ui.Code(f.Code), ui.Text(f.Text)), ui.CountCell(f.Jobs), ui.CountCell(f.Runs),
			ui.PartCell("muted", ui.Time(f.Last)), ui.PartCell("", retryForm(f)))
	}
	return t
}

func failedTable(v *view) *ui.Table {
	t := ui.NewTable("Last errors", "hover", ui.Col("When"), ui.Col("ID"), ui.Col("Run"), ui.Col("Job"), ui.Col("Worker"),
		ui.NumCol("Attempts"), ui.Col("Error")).Region()
	for i := range v.failed {
		j := &v.failed[i]
		job := []templ.Component{ui.Text(j.Kind)}
		if j.EvidenceID != nil {
			job = append(job, ui.Link(ui.EvidenceURL(j.RunID, *j.EvidenceID), j.File))
		}
		run := strings.Join([]string{j.Project, j.Build, j.Scenario, j.Run}, " · ")
		t.Row(ui.PartCell("muted", ui.Time(j.EndedAt)), ui.TextCell("mono", jobPrefix+strconv.FormatInt(j.ID, 10)),
			ui.PartCell("", ui.Link(ui.RunURL(j.RunID), run)), ui.PartCell("", job...), ui.TextCell("", workerOf(j)),
			ui.NumCell(strconv.Itoa(j.Attempt)), ui.PartCell("", failure(j)))
	}
	return t
}

func projectsTable(v *view) *ui.Table {
	t := ui.NewTable("Storage by project", "hover", ui.Col("Project"), ui.NumCol("Runs"), ui.NumCol("Files"),
		ui.NumCol("Size")).Region()
	for _, p := range v.projects {
		t.Row(ui.PartCell("", ui.Link(ui.ProjectURL(p.Project), p.Project)), ui.CountCell(p.Runs), ui.CountCell(p.Files),
			ui.NumCell(quantity.Bytes(p.Bytes)))
	}
	return t
}

// freedWords say what the rules of the life cycle delete, by the name in the database.
var freedWords = map[string]string{
	"evidence": "Evidence beyond its retention (its bytes are freed with the blobs)",
	"runs":     "Runs beyond their retention",
	"symbols":  "Symbol files beyond their retention (as evidence)",
	"unwanted": "Blobs of deleted, expired and replaced rows",
	"orphans":  "Blobs that no row named",
}

func freedTable(v *view) *ui.Table {
	t := ui.NewTable("Freed storage", "hover", ui.Col("What"), ui.NumCol("Number"), ui.NumCol("Size"),
		ui.Col("Last")).Region()
	for _, f := range v.freed {
		t.Row(ui.TextCell("", freedWords[f.What]), ui.CountCell(f.Files), ui.NumCell(quantity.Bytes(f.Bytes)),
			ui.PartCell("muted", ui.Time(f.LastAt)))
	}
	return t
}

func placesTable(v *view) *ui.Table {
	t := ui.NewTable("Symbol servers", "hover", ui.Col("Server or folder"), ui.Col("Answer"), ui.NumCol("Times"),
		ui.Col("Last")).Region()
	for _, a := range v.places {
		t.Row(ui.TextCell("mono", a.Place), ui.TextCell("", a.Result), ui.CountCell(a.Count),
			ui.PartCell("muted", ui.Time(a.LastAt)))
	}
	return t
}

// pid is the number of a node's process, which older versions do not tell.
func pid(n *store.NodeRecord) string {
	if n.PID == 0 {
		return "–"
	}
	return strconv.Itoa(n.PID)
}
