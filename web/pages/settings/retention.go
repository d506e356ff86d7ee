package settings

import (
	"fmt"
	"strconv"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/leaks"
	"heapdrift/web/pages/ui"
)

// A retentionField is a field of the form: its name, its label, and where its value lies.
type retentionField struct {
	name, label string
	of          func(*leaks.Retention) **int64
	unit        int64 // of what is typed
}

// retentionFields are the fields of the form. Bytes are typed in GB.
var retentionFields = []retentionField{
	{"evidence_days", "Evidence, days after upload", func(r *leaks.Retention) **int64 { return &r.EvidenceDays }, 1},
	{"evidence_bytes", "Evidence of the project, GB",
		func(r *leaks.Retention) **int64 { return &r.EvidenceBytes }, 1 << 30},
	{"run_days", "Runs and reports, days after the last upload", func(r *leaks.Retention) **int64 { return &r.RunDays }, 1},
	{"run_bytes", "Captures and tables of the project, GB", func(r *leaks.Retention) **int64 { return &r.RunBytes }, 1 << 30},
}

// text is what was typed into a field, else what is stored.
func (f *retentionField) text(v *settingsView) string {
	if text, ok := v.form[f.name]; ok {
		return text
	}
	value := *f.of(&v.retention)
	switch {
	case value == nil:
		return ""
	case f.unit == 1:
		return strconv.FormatInt(*value, 10)
	}
	return strconv.FormatFloat(float64(*value)/float64(f.unit), 'f', -1, 64)
}

// retentionSet handles POST /projects/:project/settings/retention.
func (p *pages) retentionSet(c echo.Context) error {
	var names []string
	for _, f := range retentionFields {
		names = append(names, f.name)
	}
	v, err := form(c, names...)
	if err != nil {
		return err
	}
	var r leaks.Retention
	for _, f := range retentionFields {
		text := v.form[f.name]
		if text == "" {
			continue
		}
		number, parseErr := strconv.ParseFloat(text, 64)
		if parseErr != nil || !(number*float64(f.unit) < maxNumber) || f.unit == 1 && number != float64(int64(number)) {
			err = &leaks.FieldError{Field: f.name, Message: fmt.Sprintf("%q is not a number: write 0 to keep for ever", text)}
			break
		}
		value := int64(number * float64(f.unit))
		*f.of(&r) = &value
	}
	if err == nil {
		err = p.store.UpdateRetention(c.Request().Context(), v.project, r, ui.ActorOfForm(c))
	}
	return p.after(c, v, err, string(ui.SettingsURL(v.project))+"#retention")
}

// maxNumber bounds what is typed: larger numbers are no int64.
const maxNumber = 1e18

// holdSet handles POST /projects/:project/settings/hold: it places a legal hold, or lifts it.
func (p *pages) holdSet(c echo.Context) error {
	v, err := form(c, "reason", "lift")
	if err != nil {
		return err
	}
	if v.form["lift"] != "" {
		err = p.store.DeleteProjectHold(c.Request().Context(), v.project, ui.ActorOfForm(c))
	} else {
		err = p.store.CreateProjectHold(c.Request().Context(), v.project, v.form["reason"], ui.ActorOfForm(c))
	}
	return p.after(c, v, err, string(ui.SettingsURL(v.project))+"#retention")
}
