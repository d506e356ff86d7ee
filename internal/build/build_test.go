package build

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"
)

const someCommit = "e113e10aa0f1b2c3d4e5f60718293a4b5c6d7e8f"

func TestVersion(t *testing.T) {
	for _, tt := range []struct {
		name, describe, commit string
		modified               bool
		want                   string
	}{
		{"a release", "v0.1.0-0-ge113e10aa0f1", someCommit, false, "0.1.0"},
		{"a release, changed", "v0.1.0-0-ge113e10aa0f1", someCommit, true, "0.1.0+modified"},
		{"behind a release", "v0.1.0-3-ge113e10aa0f1", someCommit, false, "0.1.1-dev+e113e10aa0f1"},
		{"behind a release, changed", "v0.1.9-12-ge113e10aa0f1", someCommit, true, "0.1.10-dev+e113e10aa0f1.modified"},
		{"a candidate", "v0.2.0-rc.1-0-ge113e10aa0f1", someCommit, false, "0.2.0-rc.1"},
		{"behind a candidate", "v0.2.0-rc.1-1-ge113e10aa0f1", someCommit, false, "0.2.0-rc.1.dev+e113e10aa0f1"},
		{"before the first tag", "", someCommit, false, "0.1.0-dev+e113e10aa0f1"},
		{"before the first tag, changed", "", someCommit, true, "0.1.0-dev+e113e10aa0f1.modified"},
		{"another kind of tag", "nightly-3-ge113e10aa0f1", someCommit, false, "0.1.0-dev+e113e10aa0f1"},
		{"nothing known", "", "", false, "0.1.0-dev"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Version(tt.describe, tt.commit, tt.modified); got != tt.want {
				t.Errorf("version %q, want %q", got, tt.want)
			}
		})
	}
}

// A plain build of a commit has the version that its release build has.
func TestFromToolchain(t *testing.T) {
	for _, tt := range []struct {
		name, main, commit, modified, want string
	}{
		{"a release", "v0.1.0", someCommit, "false", "0.1.0"},
		{"a release, changed", "v0.1.0+dirty", someCommit, "true", "0.1.0+modified"},
		{"behind a release", "v0.1.1-0.20261125024000-e113e10aa0f1", someCommit, "false", "0.1.1-dev+e113e10aa0f1"},
		{"behind a release, changed", "v0.1.10-0.20261125024000-e113e10aa0f1+dirty", someCommit, "true",
			"0.1.10-dev+e113e10aa0f1.modified"},
		{"a candidate", "v0.2.0-rc.1", someCommit, "false", "0.2.0-rc.1"},
		{"behind a candidate", "v0.2.0-rc.1.0.20261125024000-e113e10aa0f1", someCommit, "false",
			"0.2.0-rc.1.dev+e113e10aa0f1"},
		{"before the first tag", "v0.0.0-20261125024000-e113e10aa0f1", someCommit, "false", "0.1.0-dev+e113e10aa0f1"},
		{"outside a clone", "(devel)", "", "", "0.1.0-dev"},
		{"under go test", "", "", "", "0.1.0-dev"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			recorded := &debug.BuildInfo{Main: debug.Module{Version: tt.main}}
			want := Info{Version: tt.want, Commit: tt.commit, Modified: tt.modified == "true", Go: runtime.Version(),
				Platform: runtime.GOOS + "/" + runtime.GOARCH}
			if tt.commit != "" {
				want.Date = "2026-11-25T02:40:00Z"
				recorded.Settings = []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: tt.commit},
					{Key: "vcs.time", Value: want.Date}, {Key: "vcs.modified", Value: tt.modified}}
			}
			if got := fromToolchain(recorded); got != want {
				t.Errorf("%+v, want %+v", got, want)
			}
		})
	}
	if got := fromToolchain(nil).Version; got != "0.1.0-dev" {
		t.Errorf("version %q of a program that knows nothing", got)
	}
}

// A program that is linked with a stamp reports the facts in the stamp.
func TestStamp(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	for _, modified := range []bool{false, true} {
		want := Info{"9.8.7-dev+e113e10aa0f1", someCommit, modified, "2026-11-25T02:40:00Z", runtime.Version(),
			runtime.GOOS + "/" + runtime.GOARCH}
		program := filepath.Join(t.TempDir(), "say")
		if out, err := exec.Command("go", "build", "-ldflags", want.Stamp(), "-o", program,
			"./testdata/say").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		out, err := exec.Command(program).Output()
		if err != nil {
			t.Fatal(err)
		}
		var got Info
		if err := json.Unmarshal(out, &got); err != nil || got != want {
			t.Errorf("%s (%v), want %+v", out, err, want)
		}
	}
}
