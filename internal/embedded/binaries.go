package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// oldestMajor is the oldest PostgreSQL whose features the schema uses.
const oldestMajor = 14

// ErrNoPostgres says that no PostgreSQL server was found that can be used.
var ErrNoPostgres = errors.New("embedded: no PostgreSQL server binaries that can be used")

// installedIn are the places where packages put server binaries; the highest version comes first.
var installedIn = []string{
	"/usr/lib/postgresql/*/bin",          // Debian, Ubuntu
	"/usr/pgsql-*/bin",                   // Red Hat
	"/opt/homebrew/opt/postgresql@*/bin", // macOS, Apple silicon
	"/usr/local/opt/postgresql@*/bin",    // macOS, Intel
	"/Applications/Postgres.app/Contents/Versions/*/bin",
	`C:\Program Files\PostgreSQL\*\bin`,
}

// findBinaries returns the first directory whose server runs under the account and fits the cluster: system packages
// first, then the bundle.
func (p *Postgres) findBinaries(ctx context.Context, account *account) (string, error) {
	need := p.clusterMajor()
	var tried []string
	try := func(dir string) bool {
		major, err := account.majorOf(ctx, dir)
		switch {
		case err != nil:
			tried = append(tried, err.Error())
		case need != 0 && major != need:
			tried = append(tried, fmt.Sprintf("%s is version %d, the data in %s needs %d", dir, major, p.data(), need))
		case major < oldestMajor:
			tried = append(tried, fmt.Sprintf("%s is version %d, at least %d is needed", dir, major, oldestMajor))
		default:
			return true
		}
		return false
	}
	for _, dir := range p.candidates(ctx) {
		if try(dir) {
			return dir, nil
		}
	}
	if p.opt.BinDir == "" {
		dir, err := fetchBundle(ctx, p.opt.Dir)
		if err == nil && try(dir) {
			return dir, nil
		}
		if err != nil {
			tried = append(tried, err.Error())
		}
	}
	return "", fmt.Errorf("%w: install them (apt-get install postgresql) or set HEAPDRIFT_DATABASE_URL to a server; tried: %s", ErrNoPostgres, strings.Join(tried, "; "))
}

// candidates lists directories that hold initdb, best first.
func (p *Postgres) candidates(ctx context.Context) []string {
	var dirs []string
	switch {
	case p.opt.BinDir != "":
		return []string{p.opt.BinDir}
	case os.Getenv("HEAPDRIFT_PG_BIN") != "":
		dirs = append(dirs, os.Getenv("HEAPDRIFT_PG_BIN"))
	}
	for _, pattern := range installedIn {
		matches, _ := filepath.Glob(pattern) // fails for a bad pattern only
		slices.SortStableFunc(matches, func(a, b string) int { return versionIn(b) - versionIn(a) })
		dirs = append(dirs, matches...)
	}
	if binary, err := exec.LookPath("postgres"); err == nil {
		if real, err := filepath.EvalSymlinks(binary); err == nil {
			dirs = append(dirs, filepath.Dir(real))
		}
	}
	if out, err := exec.CommandContext(ctx, "pg_config", "--bindir").Output(); err == nil {
		dirs = append(dirs, strings.TrimSpace(string(out)))
	}
	return slices.DeleteFunc(dirs, func(dir string) bool {
		_, err := os.Stat(filepath.Join(dir, "initdb"+exeSuffix))
		return err != nil
	})
}

// versionIn is the last number in a path, 0 for none.
func versionIn(path string) int {
	fields := strings.FieldsFunc(path, func(r rune) bool { return r < '0' || r > '9' })
	if len(fields) == 0 {
		return 0
	}
	n, _ := strconv.Atoi(fields[len(fields)-1]) // digits only
	return n
}

// majorOf runs "postgres -V" under the account, which proves that it can be run as well.
func (a *account) majorOf(ctx context.Context, dir string) (int, error) {
	out, err := a.command(ctx, filepath.Join(dir, "postgres"+exeSuffix), "-V").CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%s does not run: %w %s", dir, err, strings.TrimSpace(string(out)))
	}
	// postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)
	fields := strings.Fields(string(out))
	if len(fields) < 3 {
		return 0, fmt.Errorf("%s: version %q is not understood", dir, out)
	}
	digits := strings.IndexFunc(fields[2]+".", func(r rune) bool { return r < '0' || r > '9' })
	major, err := strconv.Atoi(fields[2][:digits])
	if err != nil {
		return 0, fmt.Errorf("%s: version %q is not understood", dir, out)
	}
	return major, nil
}
