// Command licenses writes internal/licenses/licenses.txt, and its packed form, which is embedded: the licences and
// notices of all that may be linked into heapdrift, on every platform of a release. "make generate" runs it at the root
// of the repository:
//
//	go run ./tools/licenses
//
// It reads them where the toolchain has the modules, and asks it to download what is not there. What it writes depends
// on go.mod, the imports and the vendored scripts alone. A part without a licence is an error: nobody may pass it on.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"heapdrift/internal/build"
	"heapdrift/internal/licenses"
)

const (
	written = "internal/licenses/licenses.txt"
	scripts = "web/assets/vendor"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, ".")
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "licenses:", err)
		os.Exit(1)
	}
}

// run writes the file of the repository at root.
func run(ctx context.Context, root string) error {
	text, err := generate(ctx, root)
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	if err := licenses.Pack(&packed, text); err != nil {
		return err
	}
	path := filepath.Join(root, filepath.FromSlash(written))
	if err := os.WriteFile(path, text, 0o644); err != nil {
		return err
	}
	return os.WriteFile(path+".gz", packed.Bytes(), 0o644)
}

// generate is the text of the file.
func generate(ctx context.Context, root string) ([]byte, error) {
	modules, err := linked(ctx, root, build.Platforms)
	if err != nil {
		return nil, err
	}
	texts, err := collect(root, modules)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = licenses.Write(&b, texts)
	return b.Bytes(), err
}

// A module is linked at least on one platform.
type module struct {
	path, version, dir string
	packages           map[string]bool // folders that are linked
}

// linked asks the toolchain which modules are in the program on these platforms, and Go's own first.
func linked(ctx context.Context, root string, platforms []string) ([]*module, error) {
	goroot, err := goCommand(ctx, root, nil, "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	standard := &module{path: licenses.Go, dir: strings.TrimSpace(string(goroot))}
	byKey := map[string]*module{}
	for _, platform := range platforms {
		system, architecture, _ := strings.Cut(platform, "/")
		out, err := goCommand(ctx, root, []string{"GOOS=" + system, "GOARCH=" + architecture, "CGO_ENABLED=0"}, "list",
			"-deps", "-json=Dir,Module", "./cmd/heapdrift")
		if err != nil {
			return nil, err
		}
		if err := addPackages(byKey, out); err != nil {
			return nil, fmt.Errorf("go list on %s: %w", platform, err)
		}
	}
	list := []*module{standard}
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		list = append(list, byKey[key])
	}
	return list, nil
}

// addPackages adds the modules of what go list -json prints.
func addPackages(byKey map[string]*module, list []byte) error {
	type listedModule struct {
		Path, Version, Dir string
		Main               bool
		Replace            *struct{ Path, Version string }
	}
	for d := json.NewDecoder(bytes.NewReader(list)); ; {
		var p struct {
			Dir    string
			Module *listedModule
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if p.Module == nil || p.Module.Main { // the standard library; ours
			continue
		}
		m := &module{p.Module.Path, p.Module.Version, p.Module.Dir, map[string]bool{}}
		if r := p.Module.Replace; r != nil {
			m.path, m.version = r.Path, r.Version
		}
		key := m.path + " " + m.version
		if byKey[key] == nil {
			byKey[key] = m
		}
		byKey[key].packages[p.Dir] = true
	}
}

func goCommand(ctx context.Context, root string, environment []string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	var stderr bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stderr = root, append(os.Environ(), environment...), &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s %s: %w\n%s", args[0], strings.Join(environment, " "), err, &stderr)
	}
	return out, nil
}

// A collection has each text once.
type collection struct {
	texts []licenses.Text
	at    map[string]int // of a text's words: copies differ in how they are wrapped
}

func (c *collection) add(use licenses.Use, text string) {
	text = tidy(text)
	words := strings.Join(strings.Fields(text), " ")
	i, known := c.at[words]
	if !known {
		i = len(c.texts)
		c.at[words] = i
		c.texts = append(c.texts, licenses.Text{Text: text})
	}
	c.texts[i].Uses = append(c.texts[i].Uses, use)
}

// tidy gives a text the ends of lines that git keeps.
func tidy(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		b.WriteString(strings.TrimRight(line, " \t\r\n\f") + "\n")
	}
	return strings.Trim(b.String(), "\n") + "\n"
}

// collect reads the texts: ours, those of the modules, those of the scripts.
func collect(root string, modules []*module) ([]licenses.Text, error) {
	c := &collection{at: map[string]int{}}
	own, err := os.ReadFile(filepath.Join(root, "LICENSE"))
	if err != nil {
		return nil, err
	}
	c.add(licenses.Use{Name: licenses.Own, File: "LICENSE"}, string(own))
	var without []string
	for _, m := range modules {
		found, err := c.addModule(m)
		if err != nil {
			return nil, err
		}
		if !found {
			without = append(without, licenses.Use{Name: m.path, Version: m.version}.Key())
		}
	}
	unlicensed, err := c.addScripts(filepath.Join(root, filepath.FromSlash(scripts)))
	if err != nil {
		return nil, err
	}
	if without = append(without, unlicensed...); len(without) > 0 {
		return nil, fmt.Errorf("no licence file in %s", strings.Join(without, ", "))
	}
	return c.texts, nil
}

var (
	// What has to go along with a program, by the names that people give it.
	legalName = regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying|copyright|notice|patents)([._-]|$)`)
	// Notices and grants of patents come beside a licence, not instead of one.
	noLicense = regexp.MustCompile(`(?i)^(notice|patents)`)
	sources   = regexp.MustCompile(`(?i)\.(go|s|c|h|py|js|json|tmpl)$`)
)

// addModule adds the texts in a module's folder, and in those of the packages that are linked and all above them: what
// was copied from elsewhere often has its licence beside it. It reports whether the module itself has a licence.
func (c *collection) addModule(m *module) (found bool, err error) {
	folders := map[string]bool{".": true}
	for p := range m.packages {
		relative, err := filepath.Rel(m.dir, p)
		if err != nil {
			return false, err
		}
		for ; !folders[relative]; relative = filepath.Dir(relative) {
			folders[relative] = true
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(folders)) {
		entries, err := os.ReadDir(filepath.Join(m.dir, folder))
		if err != nil {
			return false, fmt.Errorf("%s: %w", m.path, err)
		}
		for _, e := range entries { // in the order of their names
			if !e.Type().IsRegular() || !legalName.MatchString(e.Name()) || sources.MatchString(e.Name()) {
				continue
			}
			text, err := os.ReadFile(filepath.Join(m.dir, folder, e.Name()))
			if err != nil {
				return false, err
			}
			c.add(licenses.Use{Name: m.path, Version: m.version, File: filepath.ToSlash(filepath.Join(folder, e.Name()))},
				string(text))
			found = found || folder == "." && !noLicense.MatchString(e.Name())
		}
	}
	return found, nil
}

// addScripts adds the licences that vendor.sh has put beside the scripts, and returns the scripts without one.
func (c *collection) addScripts(dir string) (without []string, err error) {
	text, err := os.ReadFile(filepath.Join(dir, "VERSIONS.json"))
	if err != nil {
		return nil, err
	}
	var files []struct{ Name, Version, File string }
	if err := json.Unmarshal(text, &files); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(scripts, "VERSIONS.json"), err)
	}
	licensed := map[string]bool{}
	for _, f := range files {
		use := licenses.Use{Name: f.Name, Version: f.Version, File: f.File}
		if !strings.Contains(f.File, "LICENSE") {
			licensed[use.Key()] = licensed[use.Key()] || false
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, f.File))
		if err != nil {
			return nil, err
		}
		licensed[use.Key()] = true
		c.add(use, string(text))
	}
	for _, key := range slices.Sorted(maps.Keys(licensed)) {
		if !licensed[key] {
			without = append(without, key)
		}
	}
	return without, nil
}
