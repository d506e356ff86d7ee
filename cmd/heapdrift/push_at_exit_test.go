package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heapdrift/ingest/exitlog/exitlogtest"
	"heapdrift/internal/accounts"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
)

// A job pushes the log of its tests: the old leaks are accepted with the first build, a new one fails the gate, and is
// fixed later. Visual Leak Detector is turned on for the build that fails, so that the log has the leak twice: it is one
// leak, before and after.
func TestPushLeaksAtExit(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the program")
	}
	server, db := startServerAs(t, "0")
	if err := db.CreateProject(t.Context(), "app", 0, "test"); err != nil {
		t.Fatal(err)
	}
	token := tokenFor(t, db, "app", accounts.ScopeUpload, accounts.ScopeRead, accounts.ScopeAdmin)
	for _, step := range []struct {
		build      int
		leaking    bool
		stacks     bool
		flags      []string
		exit       int
		stdoutSays string
	}{
		{1, false, false, []string{"--accept-present"}, exitOK, ""},
		{6, false, false, nil, exitOK, ""},
		{7, true, true, nil, exitLeak, "1 new leak"},
		{8, true, false, nil, exitLeak, "1 new leak"},
		{9, false, false, nil, exitOK, ""},
	} {
		suite := &exitlogtest.Suite{Program: "tests.exe", Seed: uint64(step.build)}
		for i := range 10 {
			test := exitlogtest.Test{Name: fmt.Sprintf("Suite.Test%d", i)}
			for k := range 5 {
				test.Left = append(test.Left, exitlogtest.Block{File: fmt.Sprintf(`c:\src\file%d.cpp`, i), Line: 20 + 9*k + step.build,
					Size: 16 + 8*k, Function: fmt.Sprintf("File%d::Work%d", i, k)})
			}
			if step.leaking && i == 7 {
				test.Left = append(test.Left, exitlogtest.Block{File: `c:\src\fresh.cpp`, Line: 40 + step.build, Size: 4096, Function: "Fresh::Add"})
			}
			suite.Tests = append(suite.Tests, test)
		}
		log := suite.CRT()
		if step.stacks {
			log += suite.VLD()
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "build.log"), []byte(log), 0o600); err != nil {
			t.Fatal(err)
		}
		args := append([]string{"push", "--project", "app", "--build", fmt.Sprint(step.build), "--branch", "main", "--scenario", "unit-tests", "--wait", "5m"}, step.flags...)
		j := runJob(t, dir, []string{"HEAPDRIFT_URL=" + server, "HEAPDRIFT_TOKEN=" + token}, append(args, "build.log")...)
		if j.code != step.exit || !strings.Contains(j.stdout+j.stderr, step.stdoutSays) {
			t.Errorf("build %d: exit code %d\n%s%s", step.build, j.code, j.stdout, j.stderr)
		}
	}
	page, err := storetest.Now(t, db).ListSignatures(t.Context(), store.SignatureQuery{Project: "app", Class: leaks.AllClasses, Text: "fresh", Limit: 9})
	if err != nil || len(page.Rows) != 1 {
		t.Fatalf("%d leaks, %v", len(page.Rows), err)
	}
	if s := page.Rows[0]; s.State != leaks.StateFixed || s.FirstBad != "7" || s.FixedIn != "9" || !strings.Contains(s.Title, "Fresh::Add") {
		t.Errorf("%s is %s, bad first in %q, fixed in %q", s.Title, s.State, s.FirstBad, s.FixedIn)
	}
}
