package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"strings"

	"heapdrift/internal/symbols/undname"
)

// symbolsUndname undecorates the names that are given, or those on the standard input, one a line.
func symbolsUndname(ctx context.Context, args []string, s streams) (int, error) {
	set := flag.NewFlagSet("symbols undname", flag.ContinueOnError)
	complete := set.Bool("complete", false,
		"print return type, access, arguments and calling convention too, not only scope and name")
	plain := set.Bool("no-ms-keywords", false, "without Microsoft's keywords (__cdecl, __ptr64, …)")
	names, err := parse(set, args, s)
	if err != nil {
		return exitUsage, err
	}
	input := s.in
	if len(names) > 0 {
		input = strings.NewReader(strings.Join(names, "\n"))
	}
	flags := undname.NameOnly
	if *complete {
		flags = undname.Complete
	}
	if *plain {
		flags |= undname.NoMSKeywords
	}
	in, out := bufio.NewScanner(input), bufio.NewWriter(s.out)
	in.Buffer(make([]byte, 64<<10), 16<<20)
	var line []byte
	for in.Scan() {
		if err := ctx.Err(); err != nil {
			return exitInput, err
		}
		line = append(undname.AppendUndecorate(line[:0], in.Text(), flags), '\n')
		if _, err := out.Write(line); err != nil {
			return exitInput, fmt.Errorf("write: %w", err)
		}
	}
	if err := in.Err(); err != nil {
		return exitInput, fmt.Errorf("read names: %w", err)
	}
	if err := out.Flush(); err != nil {
		return exitInput, fmt.Errorf("write: %w", err)
	}
	return exitOK, nil
}
