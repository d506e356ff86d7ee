package target

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Runner runs a program to its end and returns what it printed.
type Runner func(ctx context.Context, program string, args ...string) (output string, err error)

// PoolImage is the file name of the program that runs the application pools of IIS.
const PoolImage = "w3wp.exe"

// RecyclePool recycles an application pool of IIS and returns its new process. appcmd is the path of IIS's command.
func RecyclePool(ctx context.Context, run Runner, appcmd, pool string) (pid uint32, err error) {
	before, err := poolProcesses(ctx, run, appcmd, pool)
	if err != nil {
		return 0, err
	}
	if out, err := run(ctx, appcmd, "recycle", "apppool", "/apppool.name:"+pool); err != nil {
		return 0, fmt.Errorf("recycle the pool %s: %w: %s", pool, err, strings.TrimSpace(out))
	}
	for {
		now, err := poolProcesses(ctx, run, appcmd, pool)
		if err != nil {
			return 0, err
		}
		for _, pid := range now {
			if !slices.Contains(before, pid) {
				return pid, nil
			}
		}
		select {
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		case <-time.After(pollTime):
		}
	}
}

// poolProcesses lists the processes of a pool. appcmd prints a line for each: WP "1234" (applicationPool:name)
func poolProcesses(ctx context.Context, run Runner, appcmd, pool string) (pids []uint32, err error) {
	out, err := run(ctx, appcmd, "list", "wp", "/apppool.name:"+pool)
	if err != nil && strings.TrimSpace(out) != "" { // without a process it prints nothing, and fails in some versions
		return nil, fmt.Errorf("list the processes of the pool %s: %w: %s", pool, err, strings.TrimSpace(out))
	}
	for line := range strings.Lines(out) {
		_, rest, found := strings.Cut(line, `WP "`)
		number, rest, closed := strings.Cut(rest, `"`)
		if !found || !closed || !strings.Contains(rest, ":"+pool+")") {
			continue
		}
		if pid, err := strconv.ParseUint(number, 10, 32); err == nil {
			pids = append(pids, uint32(pid))
		}
	}
	return pids, nil
}
