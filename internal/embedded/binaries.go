package embedded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// minMajor is the oldest PostgreSQL that is used.
const minMajor = 14

// places are where packages put PostgreSQL's programs.
var places = []string{
	"/usr/lib/postgresql/*/bin",                          // Debian, Ubuntu
	"/usr/pgsql-*/bin",                                   // Red Hat, from postgresql.org
	"/opt/homebrew/opt/postgresql@*/bin",                 // Homebrew on ARM
	"/usr/local/opt/postgresql@*/bin",                    // Homebrew on Intel
	"/Applications/Postgres.app/Contents/Versions/*/bin", // Postgres.app
	`C:\Program Files\PostgreSQL\*\bin`,                  // Windows installer
}

// executable is the path of a program in a directory.
func executable(dir, program string) string {
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	return filepath.Join(dir, program)
}

// findBinaries chooses the programs to run: those of the major version that made the cluster, or the newest that work.
func (p *Postgres) findBinaries(ctx context.Context) (err error) {
	if p.major, err = clusterMajor(p.data()); err != nil {
		return err
	}
	var tried []string
	try := func(dir string) bool {
		problem := p.unusable(ctx, dir)
		if problem == "" {
			p.bin = dir
			return true
		}
		if entry := dir + ": " + problem; !slices.Contains(tried, entry) {
			tried = append(tried, entry)
		}
		return ctx.Err() != nil
	}
	// A directory that somebody names is used as it is: programs of another version would make a cluster that its
	// programs cannot open.
	named := cmp.Or(p.opt.BinDir, os.Getenv("HEAPDRIFT_PG_BIN"))
	if named != "" {
		try(named)
	} else if !slices.ContainsFunc(candidates(ctx), try) {
		if dir, err := p.bundled(ctx); err != nil {
			tried = append(tried, err.Error())
		} else {
			try(dir)
		}
	}
	switch {
	case ctx.Err() != nil:
		return errors.New("look for PostgreSQL's programs")
	case p.bin != "":
		return nil
	case p.major != 0:
		return fmt.Errorf("PostgreSQL %d, which made %s, is not to be found: run apt-get install postgresql-%[1]d, or set HEAPDRIFT_DATABASE_URL to a server of yours (tried %[3]s)",
			p.major, p.data(), strings.Join(tried, "; "))
	}
	return fmt.Errorf("no PostgreSQL %d or newer is to be found: run apt-get install postgresql, or set HEAPDRIFT_DATABASE_URL to a server of yours (tried %s)",
		minMajor, strings.Join(tried, "; "))
}

// candidates lists the directories that may hold the programs, best first.
func candidates(ctx context.Context) []string {
	var dirs []string
	for _, place := range places {
		found, _ := filepath.Glob(place) // the patterns are well formed
		slices.SortFunc(found, func(a, b string) int { return cmp.Compare(lastNumber(b), lastNumber(a)) })
		dirs = append(dirs, found...)
	}
	if program, err := exec.LookPath("postgres"); err == nil {
		if program, err = filepath.EvalSymlinks(program); err == nil {
			dirs = append(dirs, filepath.Dir(program))
		}
	}
	if output, err := exec.CommandContext(ctx, "pg_config", "--bindir").Output(); err == nil {
		dirs = append(dirs, strings.TrimSpace(string(output)))
	}
	return dirs
}

// lastNumber is the version in a directory's name.
func lastNumber(dir string) int {
	numbers := strings.FieldsFunc(dir, func(r rune) bool { return r < '0' || r > '9' })
	if len(numbers) == 0 {
		return 0
	}
	n, _ := strconv.Atoi(numbers[len(numbers)-1])
	return n
}

// unusable says why the programs in a directory cannot serve us; empty if they can. It runs them as the server's
// account: libraries may be missing, or permissions.
func (p *Postgres) unusable(ctx context.Context, dir string) string {
	for _, program := range []string{"postgres", "initdb"} {
		if _, err := os.Stat(executable(dir, program)); err != nil {
			return "no " + program + " there"
		}
	}
	version, err := run(p.command(ctx, syscall.SIGKILL, executable(dir, "postgres"), "-V"))
	if err != nil {
		return "postgres -V: " + err.Error()
	}
	major := majorOf(version)
	switch {
	case major == 0:
		return fmt.Sprintf("postgres -V says %.80q", version)
	case p.major != 0 && major != p.major:
		return fmt.Sprintf("version %d", major)
	case major < minMajor:
		return fmt.Sprintf("version %d is too old", major)
	}
	return ""
}

// majorOf reads "postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)"; 0 where it says something else.
func majorOf(version string) int {
	_, number, ok := strings.Cut(version, "(PostgreSQL) ")
	if !ok {
		return 0
	}
	digits := strings.IndexFunc(number+" ", func(r rune) bool { return r < '0' || r > '9' })
	major, _ := strconv.Atoi(number[:digits])
	return major
}

// checkReach refuses a state directory that the server's account cannot enter: one below /root, say.
func (p *Postgres) checkReach(ctx context.Context) error {
	if p.account == nil {
		return nil
	}
	cmd := p.command(ctx, syscall.SIGKILL, executable(p.bin, "postgres"), "-V") // has worked in another directory
	cmd.Dir = p.dir
	_, err := run(cmd)
	if err == nil || ctx.Err() != nil {
		return err
	}
	return fmt.Errorf("account %s, which runs the server, cannot enter %s: %w; open %s by chmod a+x, or choose another state directory",
		p.account.name, p.dir, err, cmp.Or(barrier(p.dir, p.account), p.dir))
}
