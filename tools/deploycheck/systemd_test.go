package deploycheck

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A unit is a file of systemd: the values of each setting, in order, by "Section.Setting".
type unit map[string][]string

func readUnit(t *testing.T, name string) unit {
	t.Helper()
	u, section := unit{}, ""
	for i, line := range strings.Split(read(t, "ops/systemd/"+name), "\n") {
		switch key, value, ok := strings.Cut(line, "="); {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			section = strings.Trim(line, "[]")
		case !ok:
			t.Fatalf("%s:%d: %q is no setting", name, i+1, line)
		default:
			u[section+"."+key] = append(u[section+"."+key], value)
		}
	}
	return u
}

func unitNames(t *testing.T, pattern string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(root, "ops/systemd", pattern))
	if err != nil || len(list) == 0 {
		t.Fatalf("no units: %v", err)
	}
	for i := range list {
		list[i] = filepath.Base(list[i])
	}
	return list
}

// Each part of an installation has a unit, with what its child processes and a security team need.
func TestSystemdUnits(t *testing.T) {
	commands := map[string]string{
		"heapdrift-web.service": "serve", "heapdrift-worker.service": "work", "heapdrift-migrate.service": "migrate",
		"heapdrift-up.service": "up", "heapdrift-backup.service": "backup --keep 14 /var/backups/heapdrift",
	}
	names := unitNames(t, "*.service")
	if len(names) != len(commands) {
		t.Errorf("units %v", names)
	}
	for _, name := range names {
		u := readUnit(t, name)
		if got := u["Service.ExecStart"]; !slices.Equal(got, []string{"/usr/local/bin/heapdrift " + commands[name]}) {
			t.Errorf("%s starts %q", name, got)
		}
		want := map[string]string{
			"User": "heapdrift", "NoNewPrivileges": "yes", "CapabilityBoundingSet": "", "ProtectSystem": "strict", "PrivateTmp": "yes", "UMask": "0077",
		}
		if u["Service.Type"] == nil { // it stays: its readers are not told to stop with it, and end alone
			want["KillMode"], want["OOMPolicy"], want["Restart"] = "mixed", "continue", "always"
		}
		for key, value := range want {
			if got := u["Service."+key]; !slices.Equal(got, []string{value}) {
				t.Errorf("%s: %s is %q, want %q", name, key, got, value)
			}
		}
	}
	if got := readUnit(t, "heapdrift-backup.timer")["Timer.OnCalendar"]; len(got) != 1 {
		t.Errorf("backups at %q", got)
	}
}

// systemd knows all settings of the units.
func TestSystemdKnowsTheUnits(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("systemd-analyze checks the units; without it only their settings are compared")
	}
	dir := t.TempDir()
	args := []string{"verify"}
	for _, name := range unitNames(t, "*") {
		// This machine has neither the program nor its user.
		text := strings.NewReplacer("/usr/local/bin/heapdrift", "/bin/true", "User=heapdrift", "User=root").Replace(read(t, "ops/systemd/"+name))
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, filepath.Join(dir, name))
	}
	out, err := exec.CommandContext(t.Context(), "systemd-analyze", args...).CombinedOutput()
	if err != nil || bytes.Contains(out, []byte(dir)) {
		t.Errorf("%v\n%s", err, out)
	}
}
