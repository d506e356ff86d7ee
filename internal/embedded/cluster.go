package embedded

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// An account is whom the server runs as.
type account struct {
	name     string
	uid, gid int
}

func (p *Postgres) data() string { return p.path("data") }

// clusterMajor returns the major version of the PostgreSQL that made the cluster, 0 where there is no cluster.
func clusterMajor(data string) (int, error) {
	file := filepath.Join(data, "PG_VERSION")
	content, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("%w; run as the account that made the state directory, or choose another", err)
	}
	major, err := strconv.Atoi(string(bytes.TrimSpace(content)))
	if err != nil {
		return 0, fmt.Errorf("%s is damaged: %w; restore the directory from a backup, or choose another state directory", file, err)
	}
	return major, nil
}

// makeCluster runs initdb unless there is a cluster. It works beside the final place, so that what a crash leaves is
// never taken for a cluster.
func (p *Postgres) makeCluster(ctx context.Context) error {
	if err := p.readPassword(); err != nil || p.major != 0 {
		return err
	}
	half, passwordFile := p.path("data.new"), p.path("password.new")
	if _, err := endOrphans(ctx, half); err != nil {
		return err
	}
	if err := os.RemoveAll(half); err != nil {
		return fmt.Errorf("remove what an earlier start has left: %w", err)
	}
	if err := os.Mkdir(half, 0o700); err != nil {
		return fmt.Errorf("make a cluster: %w", err)
	}
	// initdb reads it as the server's account, which must not read the lasting one.
	if err := os.WriteFile(passwordFile, []byte(p.password+"\n"), 0o600); err != nil {
		return fmt.Errorf("make a cluster: %w", err)
	}
	defer func() { _ = os.Remove(passwordFile) }()
	if a := p.account; a != nil {
		if err := errors.Join(os.Chown(half, a.uid, a.gid), os.Chown(passwordFile, a.uid, a.gid)); err != nil {
			return fmt.Errorf("make a cluster: %w", err)
		}
	}
	args := []string{
		"-D", half, "-U", superuser, "--pwfile=" + passwordFile, "-A", "scram-sha-256", "-E", "UTF8", "--locale=C",
		"--data-checksums", "--no-instructions",
	}
	if p.opt.Settings["fsync"] == "off" {
		// Else it is worth the wait: the server never syncs what initdb wrote and it has not changed.
		args = append(args, "--no-sync")
	}
	if _, err := run(p.command(ctx, syscall.SIGKILL, executable(p.bin, "initdb"), args...)); err != nil {
		return fmt.Errorf("make a cluster: initdb: %w", err)
	}
	if err := os.Rename(half, p.data()); err != nil {
		return fmt.Errorf("make a cluster: %w; is there something else in that place?", err)
	}
	return nil
}

// readPassword reads the superuser's password, or makes one where there is no cluster yet.
func (p *Postgres) readPassword() error {
	file := p.path("password")
	content, err := os.ReadFile(file)
	if p.major == 0 && errors.Is(err, fs.ErrNotExist) {
		p.password = rand.Text()
		err = os.WriteFile(file, []byte(p.password+"\n"), 0o600)
	} else {
		p.password = string(bytes.TrimSpace(content))
	}
	if err != nil {
		return fmt.Errorf("password of the database: %w; restore the file, or choose another state directory", err)
	}
	if p.password == "" {
		return fmt.Errorf("password of the database: %s is empty; restore the file, or choose another state directory", file)
	}
	return nil
}

// clearOrphans ends what is left of an earlier server and takes its postmaster.pid away: PostgreSQL only looks
// whether some process has that number, and after a restart of the machine or container some other will.
func (p *Postgres) clearOrphans(ctx context.Context) error {
	n, err := endOrphans(ctx, p.data())
	if n > 0 {
		p.opt.Log.Warn("ended what was left of an earlier PostgreSQL server", "processes", n, "dir", p.data())
	}
	if err != nil || !canClear {
		return err
	}
	return removeIfThere(filepath.Join(p.data(), "postmaster.pid"))
}

// postmasterPID returns the process that the cluster's postmaster.pid names.
func postmasterPID(cluster string) (int, error) {
	content, err := os.ReadFile(filepath.Join(cluster, "postmaster.pid"))
	if err != nil {
		return 0, err //nolint:wrapcheck // says where
	}
	line, _, _ := strings.Cut(string(content), "\n")
	return strconv.Atoi(strings.TrimSpace(line)) //nolint:wrapcheck // nobody asks why
}
