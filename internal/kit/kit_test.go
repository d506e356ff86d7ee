package kit_test

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"heapdrift/internal/golden"
	"heapdrift/internal/kit"
)

var order = kit.Order{Project: "shop", Scenario: "soak", Image: "app.exe", Evidence: "umdh", Server: "http://heapdrift:8080"}

// Each kind writes the same files, without a name of a value that is left; testdata has their texts.
func TestWrite(t *testing.T) {
	left := regexp.MustCompile(`@[A-Z_]{3,}`)
	for _, k := range kit.Kinds {
		o := order
		o.Project, o.Evidence = "shop", k.Name
		files, err := kit.Write(o)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for _, f := range files {
			if found := left.FindString(f.Text); found != "" {
				t.Errorf("%s, %s: %s is left", k.Name, f.Name, found)
			}
			if strings.Contains(strings.ReplaceAll(f.Text, "\r\n", ""), "\n") {
				t.Errorf("%s, %s: lines end without a carriage return", k.Name, f.Name)
			}
			text.WriteString("==== " + f.Name + "\n" + strings.TrimPrefix(strings.ReplaceAll(f.Text, "\r", ""), "\uFEFF"))
		}
		golden.Check(t, "testdata/"+k.Name+".txt", text.String())
	}
}

// What a shell could take for code is refused, and named.
func TestRefused(t *testing.T) {
	for field, change := range map[string][]func(*kit.Order){
		"project":  {func(o *kit.Order) { o.Project = "" }, func(o *kit.Order) { o.Project = "a\"&calc" }, func(o *kit.Order) { o.Project = "%PATH%" }},
		"scenario": {func(o *kit.Order) { o.Scenario = "a'b" }, func(o *kit.Order) { o.Scenario = "a\nb" }},
		"image": {func(o *kit.Order) { o.Image = "app.dll" }, func(o *kit.Order) { o.Image = `..\app.exe` },
			func(o *kit.Order) { o.Image = "a$(x).exe" }, func(o *kit.Order) { o.Image = strings.Repeat("a", 125) + ".exe" }},
		"evidence": {func(o *kit.Order) { o.Evidence = "" }, func(o *kit.Order) { o.Evidence = "vtune" }},
		"server": {func(o *kit.Order) { o.Server = "heapdrift:8080" }, func(o *kit.Order) { o.Server = "http://h/?a=b" },
			func(o *kit.Order) { o.Server = "http://h/%PATH%" }, func(o *kit.Order) { o.Server = `http://h/"&calc` }},
		"snapshots": {func(o *kit.Order) { o.Snapshots = -1 }, func(o *kit.Order) { o.Snapshots = 100 }},
	} {
		for i, spoil := range change {
			o := order
			o.Project = "shop"
			spoil(&o)
			_, err := kit.Write(o)
			var refused *kit.Error
			if !errors.As(err, &refused) || refused.Field != field {
				t.Errorf("%s, %d: %v", field, i, err)
			}
		}
	}
	for _, o := range []kit.Order{
		{Project: "Größe 日本", Image: "Prüf stand.EXE", Evidence: "wpr", Server: "https://h:1/below/"},
		{Project: strings.Repeat("a", 128), Image: "a.exe", Evidence: "umdh", Server: "http://h", Snapshots: 99},
	} {
		if _, err := kit.Write(o); err != nil {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// A name of another alphabet is encoded for the address, in a batch file with doubled percent signs.
func TestEncoding(t *testing.T) {
	o := kit.Order{Project: "Größe", Image: "a.exe", Evidence: "umdh", Server: "https://h/below/"}
	files, err := kit.Write(o)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"4-upload.cmd": "https://h/below/api/v1/evidence?project=Gr%%C3%%B6%%C3%%9Fe&scenario=default&",
		"kit.ps1": "evidence?project=Gr%C3%B6%C3%9Fe&scenario=default&"} {
		at := slices.IndexFunc(files, func(f kit.File) bool { return f.Name == name })
		if !strings.Contains(files[at].Text, want) {
			t.Errorf("%s has no %q", name, want)
		}
	}
	if at := slices.IndexFunc(files, func(f kit.File) bool { return f.Name == "kit.ps1" }); !strings.HasPrefix(files[at].Text, "\uFEFF") {
		t.Error("kit.ps1 does not begin with a byte order mark")
	}
}
