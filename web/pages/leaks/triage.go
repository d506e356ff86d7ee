package leaks

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/web/pages/ui"
	"heapdrift/web/problem"
)

// What can be said of a leak: the changes that forms name.
const (
	formAssign  = "assign"
	formMine    = "mine"
	formTicket  = "ticket"
	formKnown   = "known"
	formFixed   = "fixed"
	formNotLeak = "not-leak"
	formReopen  = "open"
)

// formWords are the labels of the button that opens the form of a change and of the button that sends it.
type formWords struct{ what, text, save string }

// sayable are those that have a form of their own on the page of a leak, in the order of the bar.
var sayable = []formWords{
	{formAssign, "Assign owner…", "Assign owner"},
	{formKnown, "Mark as known…", "Mark as known"},
	{formNotLeak, "Mark as not a leak…", "Mark as not a leak"},
	{formFixed, "Mark as fixed…", "Mark as fixed"},
	{formTicket, "Link ticket…", "Save ticket"},
	{formReopen, "Reopen leak…", "Reopen leak"},
}

// signaturePost handles POST /projects/:project/signatures/:signature: the buttons that change what the team says.
func (p *pages) signaturePost(c echo.Context) error {
	project, signature, err := signatureInPath(c)
	if err != nil {
		return err
	}
	if err := ui.ParseForm(c, ui.MaxFormBytes); err != nil {
		return err
	}
	change, err := triageOf(c)
	if err == nil {
		change.Actor = ui.ActorOfForm(c)
		if c.FormValue("do") == formMine {
			change.Assignee = &change.Actor
		}
		_, err = p.store.UpdateTriage(c.Request().Context(), project, signature, change)
	}
	return p.afterForm(c, project, signature, "", err)
}

// triageOf reads the form of a change.
func triageOf(c echo.Context) (leaks.TriageChange, error) {
	version, err := strconv.ParseInt(c.FormValue("version"), 10, 64)
	if err != nil || version < 0 {
		return leaks.TriageChange{},
			&leaks.FieldError{Field: "version", Message: "the form has no version; reload the page"}
	}
	change, err := changeOf(c.FormValue("do"), fieldOf(c))
	change.Version = version
	return change, err
}

// fieldOf gives the fields of a form.
func fieldOf(c echo.Context) func(name string) (value string, there bool) {
	return func(name string) (string, bool) {
		value := strings.TrimSpace(ui.Printable(c.FormValue(name))) // which parses the form
		_, there := c.Request().Form[name]
		return value, there
	}
}

// changeOf is the change that the buttons of a form name. A field that the form does not have stays as it is.
func changeOf(what string, field func(name string) (value string, there bool)) (change leaks.TriageChange, err error) {
	value := func(name string) string { text, _ := field(name); return text }
	optional := func(name string) *string {
		if text, there := field(name); there {
			return &text
		}
		return nil
	}
	switch what {
	case formAssign:
		change.Assignee, change.Ticket = new(value("assignee")), optional("ticket")
	case formMine: // the caller knows who that is
	case formTicket:
		change.Ticket = new(value("ticket"))
	case formKnown:
		change.Known, err = leaks.ParseToleration(value("reason"), value("until"), value("until_build"))
	case formFixed:
		change.Fixed = new(value("fixed_in"))
	case formReopen:
		change.Reopen = true
	case formNotLeak:
		change.NotLeak = new(true)
		change.NotLeakWhy, err = leaks.ParseNotLeakWhy(value("reason"))
	default:
		err = &leaks.FieldError{Field: "do", Message: "the form names no change"}
	}
	return change, err
}

// An openForm is the form that is open on the page of a leak: what is filled in, and what sending it would do.
type openForm struct {
	what   string
	fields map[string]string // what was typed, else what is stored
	owners []string          // that can be proposed
	effect *leaks.Impact     // nil where it cannot be told
	unsaid string            // why it cannot, or need not
}

// openFormOf reads which form is open; nil for none. A form that was refused stays open as it was sent.
func openFormOf(c echo.Context) *openForm {
	what := cmp.Or(c.FormValue("do"), c.QueryParam("say"))
	for _, s := range sayable {
		if s.what != what {
			continue
		}
		made := &openForm{what: what, fields: map[string]string{}}
		field := fieldOf(c)
		for _, name := range []string{"assignee", "ticket", "reason", "until", "until_build", "fixed_in"} {
			if value, there := field(name); there {
				made.fields[name] = value
			}
		}
		return made
	}
	return nil
}

// begin fills in what is stored where nothing was typed.
func (s *openForm) begin(t *leaks.Triage) {
	stored := map[string]string{"assignee": t.Assignee, "ticket": t.Ticket}
	switch k := t.Known; {
	case s.what == formNotLeak:
		stored["reason"] = t.NotLeakWhy
	case s.what == formKnown && k != nil && !k.Rule:
		stored["reason"] = k.Reason
		if !k.Expired {
			stored["until_build"] = k.UntilBuild
			if k.Until != nil {
				stored["until"] = leaks.UntilText(*k.Until)
			}
		}
	}
	for name, value := range stored {
		if _, typed := s.fields[name]; !typed {
			s.fields[name] = value
		}
	}
}

// untilType is what the field of the last day is: one of dates, unless it holds an instant.
func (s *openForm) untilType() string {
	if until := s.fields["until"]; until != "" {
		if _, err := time.Parse(time.DateOnly, until); err != nil {
			return "text"
		}
	}
	return "date"
}

// placeholderReason stands for a reason that is still to be typed: what a change does to gates does not depend on it.
const placeholderReason = "to be said"

// previewForm finds what the open form would do to gates.
func (p *pages) previewForm(c echo.Context, project, signature string, s *openForm) error {
	change, err := changeOf(s.what, func(name string) (string, bool) {
		value, there := s.fields[name]
		if name == "reason" {
			value = cmp.Or(value, placeholderReason)
		}
		return value, there
	})
	if err == nil && !change.MovesGates() {
		s.unsaid = "No gate changes: gates do not depend on owners or tickets."
		return nil
	}
	if err == nil {
		change.Actor = leaks.UnnamedActor
		s.effect, err = p.store.PreviewTriage(c.Request().Context(), project, signature, change)
	}
	var wrong *leaks.FieldError
	switch {
	case errors.As(err, &wrong):
		s.unsaid = "This cannot be saved: " + wrong.Error() + "."
	case errors.Is(err, store.ErrInUse):
		s.unsaid = "The preview is not available: another change of this project is being stored, or its runs are too large. Try again in a minute."
	case err != nil:
		return err
	}
	return nil
}

// formURL is the page of a leak with a form open; "" for none.
func (v signatureView) formURL(what string) templ.SafeURL {
	page := ui.SignatureURL(v.project, v.Text)
	if what == "" {
		return page
	}
	return page + templ.SafeURL("?say="+what)
}

// words are what opens the form, and what sends it.
func (s *openForm) words() (words formWords) {
	for _, known := range sayable {
		if known.what == s.what {
			words = known
		}
	}
	return words
}

// swapTriage lets scripts exchange the bar where it stands. Without them the link leads to the page.
func swapTriage(to templ.SafeURL) templ.Attributes {
	return templ.Attributes{"hx-get": string(to), "hx-target": "#triage", "hx-select": "#triage",
		"hx-swap": "outerHTML", "hx-push-url": "true"}
}

// retell lets scripts ask for the effect anew when a field changes. Without scripts, a button does so.
func (v signatureView) retell() templ.Attributes {
	return templ.Attributes{
		"hx-get": string(v.formURL("")), "hx-trigger": "change", "hx-include": "closest form", "hx-target": "#effect",
		"hx-select": "#effect", "hx-swap": "outerHTML",
	}
}

// proposedBuilds is how many builds, the newest ones, a field proposes.
const proposedBuilds = 12

// newestBuilds are the names of the newest builds, the newest first.
func (v signatureView) newestBuilds() []string {
	var names []string
	for _, b := range slices.Backward(v.history.Builds) {
		if len(names) == proposedBuilds {
			break
		}
		names = append(names, b.Name)
	}
	return names
}

// me is the actor of changes on this page: the user who is logged in, or the remembered name; "" for nobody.
func (v signatureView) me() string { return cmp.Or(v.Me(), v.actor) }

// maySay reports whether a change has a form here: what is said already has none, and only what was said can be taken
// back.
func (v signatureView) maySay(what string) bool {
	switch what {
	case formNotLeak:
		return !v.NotLeak
	case formReopen:
		return v.State == leaks.StateKnown || v.State == leaks.StateFixed || v.NotLeak
	}
	return true
}

// afterForm leads back to the page of the signature, or shows there why nothing was changed.
func (p *pages) afterForm(c echo.Context, project, signature, anchor string, err error) error {
	if err == nil {
		return c.Redirect(http.StatusSeeOther, string(ui.SignatureURL(project, signature))+anchor)
	}
	if errors.Is(err, store.ErrNotFound) {
		return err
	}
	told := problem.FromError(err)
	if told.Status >= http.StatusInternalServerError {
		return err
	}
	return p.sendSignature(c, told.Status, project, signature, &refusal{told.Field, told.Detail})
}
