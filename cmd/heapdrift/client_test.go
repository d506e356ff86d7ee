package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// heavy are packages that the client must not have: each makes every job fetch megabytes more. text/template finds
// methods by name, and the linker keeps all exported methods of all types for it.
var heavy = []string{"text/template", "html/template", "github.com/parquet-go/parquet-go", "google.golang.org/protobuf/proto",
	"github.com/jackc/pgx/v5", "github.com/labstack/echo/v4", "github.com/a-h/templ", "heapdrift/internal/store", "heapdrift/web"}

func TestClientIsSmall(t *testing.T) {
	list := func(tags string) []string {
		out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-tags", tags, ".").Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Fields(string(out))
	}
	client, full := list("client"), list("")
	for _, name := range heavy {
		if slices.Contains(client, name) {
			t.Errorf("the client has %s", name)
		}
	}
	if !slices.Contains(full, "github.com/parquet-go/parquet-go") {
		t.Error("the list of the full program has no Parquet: the names are not those of packages")
	}
}
