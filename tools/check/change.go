package main

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// A change is what differs from a commit.
type change struct {
	base  string   // the commit, as it was asked for or found
	files []string // relative to the root, with slashes; deleted ones, too
}

// changeSince tells the change since base. An empty base is the commit where the branch left main, or origin/main where
// there is no branch main; HEAD where neither is known.
func changeSince(ctx context.Context, root, base string) (c change, err error) {
	c.base = base
	for _, line := range []string{"main", "origin/main"} {
		if c.base == "" {
			c.base, _ = git(ctx, root, "merge-base", "HEAD", line) // a branch that is not there has no base
			c.base = strings.TrimSpace(c.base)
		}
	}
	if c.base == "" {
		c.base = "HEAD"
	}
	// Without renames a file that moved counts in both places. -z: names are not quoted.
	tracked, err := git(ctx, root, "diff", "-z", "--name-only", "--no-renames", "--relative", c.base)
	if err != nil {
		return c, err
	}
	unknown, err := git(ctx, root, "ls-files", "-z", "--others", "--exclude-standard")
	if err != nil {
		return c, err
	}
	c.files = strings.FieldsFunc(tracked+unknown, func(r rune) bool { return r == 0 })
	slices.Sort(c.files)
	c.files = slices.Compact(c.files)
	return c, nil
}

func git(ctx context.Context, root string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "git", append([]string{"-C", root}, args...)...).Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", strings.Join(args, " "), err)
	}
	return string(out), nil
}
