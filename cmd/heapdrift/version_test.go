package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"heapdrift/internal/build"
	"heapdrift/internal/store"
)

func TestVersionText(t *testing.T) {
	const commit, date = "e113e10aa0f1b2c3d4e5f60718293a4b5c6d7e8f", "2026-11-25T02:40:00Z"
	for _, tt := range []struct {
		name string
		info build.Info
		want string
	}{
		{"a release", build.Info{Version: "0.1.0", Commit: commit, Date: date}, "heapdrift 0.1.0\ncommit    " + commit +
			"\ndate      " + date + "\n"},
		{"changed", build.Info{Version: "0.1.0+modified", Commit: commit, Date: date, Modified: true},
			"heapdrift 0.1.0+modified\ncommit    " + commit + ", modified\ndate      " + date + "\n"},
		{"outside a clone", build.Info{Version: "0.1.0-dev"}, "heapdrift 0.1.0-dev\ncommit    unknown\ndate      unknown\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.info.Go, tt.info.Platform = "go1.26.8", "linux/arm64"
			v := versionInfo{tt.info, 41}
			var out bytes.Buffer
			if err := v.writeText(&out); err != nil {
				t.Fatal(err)
			}
			if want := tt.want + "go        go1.26.8\nplatform  linux/arm64\nschema    41\n"; out.String() != want {
				t.Errorf("%q, want %q", &out, want)
			}
		})
	}
}

func TestVersionCommand(t *testing.T) {
	for _, tt := range []struct {
		name string
		args []string
		code int
		want string // in the output or the error
	}{
		{"text", []string{"version"}, exitOK, "heapdrift " + buildVersion() + "\ncommit "},
		{"json", []string{"version", "--format", "json"}, exitOK, `"version": "` + buildVersion() + `"`},
		{"another format", []string{"version", "--format", "xml"}, exitUsage, `"xml" is neither`},
		{"a word too many", []string{"version", "server"}, exitUsage, `takes no "server"`},
		{"help", []string{"help"}, exitOK, "heapdrift version [--format json] "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out, mistakes bytes.Buffer
			code := run(t.Context(), tt.args, streams{out: &out, err: &mistakes})
			if said := out.String() + mistakes.String(); code != tt.code || !strings.Contains(said, tt.want) {
				t.Errorf("code %d, %q; want %d and %q", code, said, tt.code, tt.want)
			}
		})
	}
	var out bytes.Buffer
	run(t.Context(), []string{"version", "--format", "json"}, streams{out: &out, err: &out})
	var got map[string]any
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{"go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH,
		"schema": float64(store.KnownSchema()), "modified": build.Current().Modified, "commit": build.Current().Commit,
		"date": build.Current().Date} {
		if got[name] != want {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
	}
}

// A plain build prints what the toolchain recorded, in the words of a release.
func TestPlainBuild(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	binary, err := builtBinary()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(binary, "version").Output()
	if err != nil {
		t.Fatal(err)
	}
	if first, _, _ := strings.Cut(string(out), "\n"); !strings.HasPrefix(first, "heapdrift ") ||
		strings.Contains(first, "(devel)") || strings.Contains(first, " v") {
		t.Errorf("the first line is %q", first)
	}
	if want := fmt.Sprintf("schema    %d\n", store.KnownSchema()); !strings.HasSuffix(string(out), want) {
		t.Errorf("%q does not end with %q", out, want)
	}
}
