package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"

	"heapdrift/internal/update"
)

// updateProgram replaces this program by the client of a server.
func updateProgram(ctx context.Context, args []string, s streams) (int, error) {
	set := flag.NewFlagSet("update", flag.ContinueOnError)
	address := set.String("url", "", "`address` of the server; $HEAPDRIFT_URL when not given")
	rest, err := parse(set, args, s)
	if err != nil {
		return exitUsage, err
	}
	if len(rest) > 0 {
		return exitUsage, &usageError{fmt.Sprintf("takes no %q", rest[0])}
	}
	if !isClient {
		return exitUsage, &usageError{"this is the full program, and servers give the client away: install a release"}
	}
	c, err := loadConfig()
	if err != nil {
		return exitUsage, &usageError{err.Error()}
	}
	server := cmp.Or(*address, c.URL)
	if server == "" {
		return exitUsage, &usageError{"no server given: --url, or HEAPDRIFT_URL"}
	}
	u, err := update.NewSelfUpdate(server)
	if err != nil {
		return exitInput, err
	}
	result, err := u.Run(ctx)
	if err != nil {
		return exitInput, err
	}
	if !result.Replaced {
		_, err = fmt.Fprintf(s.out, "heapdrift %s is the version of the server already\n", result.Version)
		return exitOK, err
	}
	_, err = fmt.Fprintf(s.out, "heapdrift %s is replaced by %s: %s\n", buildVersion(), result.Version, u.Program)
	return exitOK, err
}
