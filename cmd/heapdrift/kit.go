package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"heapdrift/internal/kit"
)

// writeKit writes scripts that record a process on a machine without heapdrift.
func writeKit(_ context.Context, args []string, s streams) (int, error) {
	var o kit.Order
	set := flag.NewFlagSet("kit", flag.ContinueOnError)
	set.StringVar(&o.Project, "project", "", "`project` to upload to; $HEAPDRIFT_PROJECT when not given")
	set.StringVar(&o.Image, "image", "", "`file` name of the program: app.exe")
	set.StringVar(&o.Evidence, "evidence", kit.Kinds[0].Name, "`kind`: "+strings.Join(kit.Names(), ", "))
	set.StringVar(&o.Scenario, "scenario", "", "what the process does (default \"default\")")
	set.StringVar(&o.Server, "url", "", "`address` of the server; $HEAPDRIFT_URL when not given")
	set.IntVar(&o.Snapshots, "snapshots", 0, "`number` of snapshots or dumps; as many as decide when not given")
	dir := set.String("o", "", "`folder` to write to (default: kit-EVIDENCE)")
	rest, err := parse(set, args, s)
	if err != nil {
		return exitUsage, err
	}
	if len(rest) > 0 {
		return exitUsage, &usageError{fmt.Sprintf("takes no %q", rest[0])}
	}
	c, err := loadConfig()
	if err != nil {
		return exitUsage, &usageError{err.Error()}
	}
	o.Project, o.Server = cmp.Or(o.Project, c.Project), cmp.Or(o.Server, c.URL)
	if o.Server == "" {
		return exitUsage, &usageError{"no server given: --url, or HEAPDRIFT_URL"}
	}
	files, err := kit.Write(o)
	var refused *kit.Error
	if errors.As(err, &refused) {
		flagOf := map[string]string{"server": "url"}
		return exitUsage, &usageError{"--" + cmp.Or(flagOf[refused.Field], refused.Field) + ": " + refused.Message}
	}
	if err != nil {
		return exitInput, err
	}
	folder := cmp.Or(*dir, "kit-"+o.Evidence)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return exitInput, err
	}
	for _, f := range files {
		path := filepath.Join(folder, f.Name)
		if err := os.WriteFile(path, []byte(f.Text), 0o644); err != nil {
			return exitInput, err
		}
		if _, err := fmt.Fprintln(s.out, path); err != nil {
			return exitInput, err
		}
	}
	return exitOK, nil
}
