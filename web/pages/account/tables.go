package account

import (
	"github.com/a-h/templ"

	"heapdrift/internal/store/accountstore"
	"heapdrift/web/pages/ui"
)

// projectsTable is what the reader may do in which project.
func projectsTable(v *accountView) *ui.Table {
	t := ui.NewTable("Your projects", "hover", ui.Col("Project"), ui.Col("Role")).Region()
	for _, r := range v.projects {
		t.Row(ui.PartCell("", ui.Link(ui.ProjectURL(r.Project), r.Project)), ui.TextCell("", string(r.Role)))
	}
	return t
}

func accountsTable(list []accountstore.User) *ui.Table {
	t := ui.NewTable("All accounts", "hover", ui.Col("Name"), ui.Col("E-mail"), ui.Col("Admin"), ui.Col("Last log-in"),
		ui.HiddenCol("Actions")).Region()
	for _, u := range list {
		name, admin, last := []templ.Component{ui.Text(u.Name)}, ui.Muted("–"), ui.Text("never")
		if u.LockedAt != nil {
			name = append(name, lockedChip())
		}
		if u.Admin {
			admin = ui.Text("yes")
		}
		if u.LoggedInAt != nil {
			last = ui.Time(*u.LoggedInAt)
		}
		t.Row(ui.PartCell("name", name...), ui.TextCell("", u.Email), ui.PartCell("", admin), ui.PartCell("muted", last),
			ui.PartCell("", accountForm(u)))
	}
	return t
}
