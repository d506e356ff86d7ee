package leaks

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// An UploadTarget says where uploaded evidence belongs: project, build, scenario and run.
type UploadTarget struct {
	Project  string `json:"project"`
	Build    string `json:"build"`
	Sequence *int64 `json:"sequence,omitempty"` // sequence number among the project's builds; nil where not declared
	Branch   string `json:"branch,omitempty"`
	Commit   string `json:"commit,omitempty"` // that the build was made of
	Fork     string `json:"fork,omitempty"`   // the build at which the branch left its parent line
	// Ancestors are the commits behind the build's, newest first; nil where not declared.
	Ancestors []string `json:"ancestors,omitempty"`
	Scenario  string   `json:"scenario"`
	Run       string   `json:"run"`
	// Work is how much work the process had done when the evidence was taken, counted in WorkUnits; nil where not
	// declared.
	Work     *float64 `json:"work,omitempty"`
	WorkUnit string   `json:"work_unit,omitempty"` // of the whole run, singular: "document"
	// Urgent says that a person waits for the report in a browser: such evidence gets every other turn of the queue.
	Urgent bool `json:"urgent,omitempty"`
}

// UploadTargetOf reads a target from the fields of a form, an address or a call of the API, by their names, and checks
// it. Its error is a *FieldError.
func UploadTargetOf(field func(name string) string) (UploadTarget, error) {
	t := UploadTarget{
		Project: field("project"), Build: field("build"), Scenario: field("scenario"), Run: field("run"),
		Branch: field("branch"), Commit: field("commit"), Fork: field("fork"), WorkUnit: field("work_unit"),
	}
	var err error
	if t.Ancestors, err = ParseAncestors(field("ancestors")); err != nil {
		return t, err
	}
	if text := strings.TrimSpace(field("sequence")); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return t, wrongField("sequence", "%q is not a whole number", text)
		}
		t.Sequence = &n
	}
	if text := strings.TrimSpace(field("work")); text != "" {
		work, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return t, wrongField("work", "%q is not a number", text)
		}
		t.Work = &work
	}
	return t, t.Normalize()
}

// DefaultScenario is the scenario of uploads that name none.
const DefaultScenario = "default"

// A nameForm is what a kind of name may look like: letters and digits, marks behind the first of them, a limit in
// characters; and that in words.
type nameForm struct {
	marks string
	limit int
	words string
}

var (
	anyName = nameForm{" ._+@#:/-", 128,
		"letters, digits, spaces and . _ + @ # : / -, starting with a letter or digit, at most 128 characters"}
	// A project's name is one element of an address.
	projectName = nameForm{" ._+@-", 64,
		"letters, digits, spaces and . _ + @ -, starting with a letter or digit, at most 64 characters"}
)

func (f nameForm) fits(name string) bool {
	for i, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsNumber(r) && (i == 0 || !strings.ContainsRune(f.marks, r)) {
			return false
		}
	}
	return name != "" && utf8.RuneCountInString(name) <= f.limit
}

// Normalize fills in defaults and checks the names. It does not fill in the sequence number that the name of the build
// has: an earlier upload to the build may have declared another one.
func (t *UploadTarget) Normalize() error {
	for _, field := range []struct {
		name     string
		value    *string
		fallback string
		required bool
		form     nameForm
	}{
		{"project", &t.Project, "", true, projectName}, {"build", &t.Build, "", true, anyName},
		{"scenario", &t.Scenario, DefaultScenario, true, anyName}, {"run", &t.Run, "1", true, anyName},
		{"branch", &t.Branch, "", false, anyName},
		{"commit", &t.Commit, "", false, anyName}, {"fork", &t.Fork, "", false, anyName},
	} {
		*field.value = strings.TrimSpace(*field.value)
		if *field.value == "" {
			*field.value = field.fallback
		}
		switch {
		case *field.value == "" && field.required:
			return &FieldError{field.name, "is missing"}
		case *field.value != "" && !field.form.fits(*field.value):
			return &FieldError{field.name, fmt.Sprintf("%q is not a name: %s", *field.value, field.form.words)}
		}
	}
	if t.Fork == t.Build {
		return &FieldError{"fork", ownFork}
	}
	return t.normalizeWork()
}

// CheckProjectName refuses text that cannot be the name of a project. Its error is a *FieldError.
func CheckProjectName(name string) error {
	if !projectName.fits(name) {
		return wrongField("project", "%q is not a name: %s", name, projectName.words)
	}
	return nil
}

// maxUnit is how long the name of a work counter may be, in characters.
const maxUnit = 32

func (t *UploadTarget) normalizeWork() error {
	t.WorkUnit = strings.TrimSpace(t.WorkUnit)
	switch {
	case t.Work != nil && (math.IsNaN(*t.Work) || math.IsInf(*t.Work, 0) || *t.Work < 0):
		return &FieldError{"work", "is not a number of 0 or more"}
	case t.WorkUnit != "" && (!anyName.fits(t.WorkUnit) || utf8.RuneCountInString(t.WorkUnit) > maxUnit):
		return &FieldError{"work_unit",
			fmt.Sprintf("%q is not the name of a unit: at most %d letters and digits, as in document", t.WorkUnit, maxUnit)}
	case t.Work != nil && t.WorkUnit == "":
		t.WorkUnit = "iteration"
	}
	return nil
}
