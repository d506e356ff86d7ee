package target_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"heapdrift/internal/record/target"
	"heapdrift/internal/record/target/targettest"
)

func TestProgramOf(t *testing.T) {
	for line, want := range map[string]string{
		`"C:\Program Files\a b.exe" -s x`:                   `C:\Program Files\a b.exe`,
		`C:\Windows\System32\svchost.exe -k netsvcs -p`:     `C:\Windows\System32\svchost.exe`,
		`C:\Program Files\no quotes\A.EXE --config x.exe.c`: `C:\Program Files\no quotes\A.EXE`,
		`C:\tools\service arg`:                              `C:\tools\service`,
		`"unclosed`:                                         `unclosed`,
		``:                                                  ``,
	} {
		if got := target.ProgramOf(line); got != want {
			t.Errorf("ProgramOf(%s) = %s, want %s", line, got, want)
		}
	}
}

func TestOwnService(t *testing.T) {
	for path, own := range map[string]bool{`C:\a\app.exe`: true, `C:\Windows\System32\SvcHost.exe`: false, `svchost.exe`: false} {
		if err := target.OwnService("s", path); (err == nil) != own {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// Of several processes none is chosen by chance.
func TestOnly(t *testing.T) {
	s := &targettest.System{}
	if r, err := target.Only(s, "app.exe"); r != nil || err != nil {
		t.Errorf("no process: %v, %v", r, err)
	}
	one := s.Add(target.Info{Image: "App.exe"})
	if r, err := target.Only(s, "app.exe"); err != nil || r.Info().PID != one.What.PID {
		t.Errorf("one process: %v, %v", r, err)
	}
	s.Add(target.Info{Image: "app.exe"})
	if _, err := target.Only(s, "app.exe"); err == nil || !strings.Contains(err.Error(), "1000 1004") {
		t.Errorf("two processes: %v", err)
	}
}

// A process that ran before is not taken for the start that is waited for.
func TestWaitForStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &targettest.System{}
		old := s.Add(target.Info{Image: "app.exe"})
		time.AfterFunc(time.Hour, func() { s.Add(target.Info{Image: "app.exe", PID: 7}) })
		began := time.Now()
		r, err := target.WaitForStart(t.Context(), s, "app.exe", []uint32{old.What.PID})
		if err != nil || r.Info().PID != 7 || time.Since(began) < time.Hour {
			t.Errorf("%v, %v after %s", r, err, time.Since(began))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := target.WaitForStart(ctx, s, "other.exe", nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("no start: %v", err)
		}
	})
}

// The new process of a pool is the one that appcmd did not list before.
func TestRecyclePool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls []string
		lists := []string{
			"WP \"11\" (applicationPool:shop)\r\nWP \"12\" (applicationPool:shop two)\r\n",
			"WP \"11\" (applicationPool:shop)\r\n", // the old one still ends its requests
			"WP \"11\" (applicationPool:shop)\r\nWP \"40\" (applicationPool:shop)\r\n",
		}
		run := func(_ context.Context, _ string, args ...string) (string, error) {
			calls = append(calls, args[0])
			if args[0] == "recycle" {
				return "", nil
			}
			list := lists[0]
			lists = lists[1:]
			return list, nil
		}
		pid, err := target.RecyclePool(t.Context(), run, "appcmd.exe", "shop")
		if want := []string{"list", "recycle", "list", "list"}; err != nil || pid != 40 || !slices.Equal(calls, want) {
			t.Errorf("PID %d, %v after %q", pid, err, calls)
		}
	})
}

func TestRecyclePoolFails(t *testing.T) {
	for verb, says := range map[string]string{"list": "list the processes", "recycle": "recycle the pool shop"} {
		run := func(_ context.Context, _ string, args ...string) (string, error) {
			if args[0] == verb {
				return "ERROR ( message:Cannot find APPPOOL )", errors.New("exit code 1168")
			}
			return "", nil
		}
		_, err := target.RecyclePool(t.Context(), run, "appcmd.exe", "shop")
		if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "Cannot find") {
			t.Errorf("%s: %v", verb, err)
		}
	}
}
