package main

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"

	"heapdrift/internal/build"
)

// buildVersion is the short version, for pages, metrics, the table of workers and what push sends.
func buildVersion() string { return build.Current().Version }

// versionInfo is what "heapdrift version" prints.
type versionInfo struct {
	build.Info
	Schema int64 `json:"schema,omitzero"` // that the database must have; the client has none
}

func version(_ context.Context, args []string, s streams) (int, error) {
	set := flag.NewFlagSet("version", flag.ContinueOnError)
	format := set.String("format", "text", "text or json")
	rest, err := parse(set, args, s)
	if err != nil {
		return exitUsage, err
	}
	if len(rest) > 0 {
		return exitUsage, &usageError{fmt.Sprintf("takes no %q", rest[0])}
	}
	v := versionInfo{build.Current(), schema()}
	switch *format {
	case "text":
		err = v.writeText(s.out)
	case "json":
		encoder := json.NewEncoder(s.out)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(v)
	default:
		return exitUsage, &usageError{fmt.Sprintf("--format %q is neither text nor json", *format)}
	}
	return exitOK, err
}

// writeText begins with the line that scripts have read since there was a version.
func (v *versionInfo) writeText(w io.Writer) error {
	commit := cmp.Or(v.Commit, "unknown")
	if v.Modified {
		commit += ", modified"
	}
	_, err := fmt.Fprintf(w, "heapdrift %s\ncommit    %s\ndate      %s\ngo        %s\nplatform  %s\n",
		v.Version, commit, cmp.Or(v.Date, "unknown"), v.Go, v.Platform)
	if v.Schema != 0 && err == nil {
		_, err = fmt.Fprintf(w, "schema    %d\n", v.Schema)
	}
	return err
}
