package leaks_test

import (
	"errors"
	"strings"
	"testing"

	"heapdrift/internal/leaks"
)

func TestBuildChange(t *testing.T) {
	sequence := int64(7)
	for _, test := range []struct {
		change leaks.BuildChange
		field  string // that is wrong; "" for none
	}{
		{leaks.BuildChange{}, "body"},
		{leaks.BuildChange{Sequence: &sequence}, ""},
		{leaks.BuildChange{Name: new("b2"), Branch: new(""), Commit: new(" "), Fork: new("")}, ""},
		{leaks.BuildChange{Name: new(" ")}, "name"},
		{leaks.BuildChange{Name: new(strings.Repeat("b", 128))}, ""},
		{leaks.BuildChange{Name: new(strings.Repeat("b", 129))}, "name"},
		{leaks.BuildChange{Branch: new("-x")}, "branch"},
		{leaks.BuildChange{Commit: new("a\x00")}, "commit"},
		{leaks.BuildChange{Fork: new("?")}, "fork"},
		{leaks.BuildChange{Fork: new("b1")}, "fork"},
		{leaks.BuildChange{Name: new("b2"), Fork: new("b1")}, ""},
		{leaks.BuildChange{Name: new("b2"), Fork: new(" b2 ")}, "fork"},
	} {
		checkField(t, test.change.Normalize("b1"), test.field)
	}
	c := leaks.BuildChange{Branch: new(" main ")}
	if err := c.Normalize("b1"); err != nil || *c.Branch != "main" {
		t.Errorf("%q, %v", *c.Branch, err)
	}
}

func TestProjectChange(t *testing.T) {
	for _, test := range []struct {
		change leaks.ProjectChange
		field  string
	}{
		{leaks.ProjectChange{}, "body"},
		{leaks.ProjectChange{Name: new(" shop ")}, ""},
		{leaks.ProjectChange{Name: new("a/b")}, "name"},
		{leaks.ProjectChange{Name: new("")}, "name"},
		{leaks.ProjectChange{DefaultBranch: new("")}, ""},
		{leaks.ProjectChange{DefaultBranch: new("release/1")}, ""},
		{leaks.ProjectChange{DefaultBranch: new("?")}, "default_branch"},
	} {
		checkField(t, test.change.Normalize(), test.field)
	}
}

func checkField(t *testing.T, err error, field string) {
	t.Helper()
	var wrong *leaks.FieldError
	if errors.As(err, &wrong); (err != nil) != (field != "") || wrong != nil && wrong.Field != field {
		t.Errorf("%v, want one about %q", err, field)
	}
}
