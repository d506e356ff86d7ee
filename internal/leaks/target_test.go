package leaks_test

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"heapdrift/internal/leaks"
)

func TestNamesOfATarget(t *testing.T) {
	at := func(project, build string) leaks.UploadTarget {
		return leaks.UploadTarget{Project: project, Build: build}
	}
	for name, test := range map[string]struct {
		target leaks.UploadTarget
		field  string // that is wrong; "" for none
	}{
		"signs":                    {at("app", "1.2+rc#3/x64"), ""},
		"letters of any script":    {at("приложение", "1"), ""},
		"no project":               {at("", "1"), "project"},
		"a blank project":          {at(" \t", "1"), "project"},
		"a project with a slash":   {at("a/b", "1"), "project"}, // it is one element of an address
		"a project with a colon":   {at("a:b", "1"), "project"},
		"a project of 64":          {at(strings.Repeat("ä", 64), "1"), ""},
		"a project of 65":          {at(strings.Repeat("ä", 65), "1"), "project"},
		"no build":                 {at("app", ""), "build"},
		"a build of 128":           {at("app", strings.Repeat("ä", 128)), ""},
		"a build of 129":           {at("app", strings.Repeat("ä", 129)), "build"},
		"a build that starts so":   {at("app", "-1"), "build"},
		"a build with a line":      {at("app", "a\nb"), "build"},
		"a run that is no text":    {leaks.UploadTarget{Project: "app", Build: "1", Run: "\x00"}, "run"},
		"a scenario of markup":     {leaks.UploadTarget{Project: "app", Build: "1", Scenario: "<x>"}, "scenario"},
		"a branch":                 {leaks.UploadTarget{Project: "app", Build: "1", Branch: "feature/x-1"}, ""},
		"a branch that is no text": {leaks.UploadTarget{Project: "app", Build: "1", Branch: "a\x00b"}, "branch"},
		"a branch of 129":          {leaks.UploadTarget{Project: "app", Build: "1", Branch: strings.Repeat("x", 129)}, "branch"},
		"no work":                  {leaks.UploadTarget{Project: "app", Build: "1", Work: new(0.0)}, ""},
		"less than no work":        {leaks.UploadTarget{Project: "app", Build: "1", Work: new(-1e-9)}, "work"},
		"work without end":         {leaks.UploadTarget{Project: "app", Build: "1", Work: new(math.Inf(1))}, "work"},
		"work that is no number":   {leaks.UploadTarget{Project: "app", Build: "1", Work: new(math.NaN())}, "work"},
		"a unit of 32":             {leaks.UploadTarget{Project: "app", Build: "1", WorkUnit: strings.Repeat("ä", 32)}, ""},
		"a unit of 33": {leaks.UploadTarget{Project: "app", Build: "1", WorkUnit: strings.Repeat("ä", 33)},
			"work_unit"},
		"a unit of markup":          {leaks.UploadTarget{Project: "app", Build: "1", WorkUnit: "<i>"}, "work_unit"},
		"a unit, and work below it": {leaks.UploadTarget{Project: "app", Build: "1", Work: new(-1.0), WorkUnit: "<i>"}, "work"},
	} {
		if got := fieldOf(t, test.target.Normalize()); got != test.field {
			t.Errorf("%s: complains about %q, want %q", name, got, test.field)
		}
	}
}

func TestDefaultsOfATarget(t *testing.T) {
	for name, test := range map[string]struct{ target, want leaks.UploadTarget }{
		"numbered": {leaks.UploadTarget{Project: " app ", Build: "4812\n"},
			leaks.UploadTarget{Project: "app", Build: "4812", Scenario: leaks.DefaultScenario, Run: "1"}},
		"named": {leaks.UploadTarget{Project: "app", Build: "1.2", Scenario: " soak", Run: "2 ", Branch: " main "},
			leaks.UploadTarget{Project: "app", Build: "1.2", Scenario: "soak", Run: "2", Branch: "main"}},
		"numbered otherwise": {leaks.UploadTarget{Project: "app", Build: "4812", Sequence: new(int64(7)), Scenario: "s", Run: "r"},
			leaks.UploadTarget{Project: "app", Build: "4812", Sequence: new(int64(7)), Scenario: "s", Run: "r"}},
		"with work": {leaks.UploadTarget{Project: "app", Build: "a", Work: new(3.0)},
			leaks.UploadTarget{Project: "app", Build: "a", Scenario: leaks.DefaultScenario, Run: "1", Work: new(3.0),
				WorkUnit: "iteration"}},
		"with work in a unit": {leaks.UploadTarget{Project: "app", Build: "a", Work: new(3.0), WorkUnit: " document "},
			leaks.UploadTarget{Project: "app", Build: "a", Scenario: leaks.DefaultScenario, Run: "1",
				Work: new(3.0), WorkUnit: "document"}},
	} {
		if err := test.target.Normalize(); err != nil || !reflect.DeepEqual(test.target, test.want) {
			t.Errorf("%s: %+v, %v; want %+v", name, test.target, err, test.want)
		}
	}
}

// The error about a value that is no number names its field; an empty field is not declared.
func TestTargetOfFields(t *testing.T) {
	for _, test := range []struct {
		sequence, work string
		field          string // that is wrong; "" for none
	}{
		{"", "", ""}, {" 7 ", " 2.5 ", ""}, {"-9223372036854775808", "0", ""}, {"9223372036854775807", "1e9", ""},
		{"9223372036854775808", "", "sequence"}, {"seven", "", "sequence"}, {"7.5", "", "sequence"},
		{"7", "many", "work"}, {"7", "-1", "work"}, {"7", "NaN", "work"}, {"7", "Inf", "work"},
	} {
		fields := map[string]string{"project": "shop", "build": "main-4711", "sequence": test.sequence,
			"work": test.work, "branch": " main "}
		target, err := leaks.UploadTargetOf(func(name string) string { return fields[name] })
		var wrong *leaks.FieldError
		if errors.As(err, &wrong); test.field != "" {
			if wrong == nil || wrong.Field != test.field {
				t.Errorf("%+v: %v, want %s to be wrong", test, err, test.field)
			}
			continue
		}
		if err != nil || target.Branch != "main" || target.Scenario != leaks.DefaultScenario ||
			(target.Sequence == nil) != (test.sequence == "") || (target.Work == nil) != (test.work == "") {
			t.Errorf("%+v: %+v, %v", test, target, err)
		}
	}
}
