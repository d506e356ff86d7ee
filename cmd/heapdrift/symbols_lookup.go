package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime/debug"
	"strconv"
	"strings"

	"heapdrift/internal/symbols"
)

// symbolsLookup prints what a PDB or an image says about addresses, one tab-separated line each: address, function,
// displacement, file, line, and the chain of inlined calls, innermost first.
func symbolsLookup(ctx context.Context, args []string, s streams) (int, error) {
	rest, err := parse(flag.NewFlagSet("symbols lookup", flag.ContinueOnError), args, s)
	if err != nil {
		return exitUsage, err
	}
	if len(rest) == 0 {
		return exitUsage, &usageError{"no file given"}
	}
	words := rest[1:]
	if len(words) == 0 {
		if words, err = readWords(s.in); err != nil {
			return exitInput, fmt.Errorf("read addresses: %w", err)
		}
	}
	rvas := make([]uint32, len(words))
	for i, word := range words {
		if rvas[i], err = parseRVA(word); err != nil {
			return exitUsage, &usageError{err.Error()}
		}
	}
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // it is over before much is garbage
	found, err := symbols.Lookup(ctx, rest[0], rvas)
	if err != nil {
		return exitInput, fmt.Errorf("%s: %w", rest[0], err)
	}
	out := bufio.NewWriter(s.out)
	var line []byte
	for i, l := range found {
		line = strconv.AppendUint(append(line[:0], "0x"...), uint64(rvas[i]), 16)
		line = append(line, '\t')
		line = append(line, l.Function...)
		line = append(line, '\t')
		if l.Function != "" {
			line = strconv.AppendUint(line, uint64(l.Displacement), 10)
		}
		line = append(line, '\t')
		line = append(line, l.File...)
		line = append(line, '\t')
		if l.File != "" {
			line = strconv.AppendUint(line, uint64(l.Line), 10)
		}
		line = append(line, '\t')
		for k, c := range l.Inlines {
			if k > 0 {
				line = append(line, '>')
			}
			line = append(append(append(append(line, c.Function...), '@'), c.File...), ':')
			if c.Line != 0 {
				line = strconv.AppendUint(line, uint64(c.Line), 10)
			}
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			return exitInput, fmt.Errorf("write: %w", err)
		}
	}
	if err := out.Flush(); err != nil {
		return exitInput, fmt.Errorf("write: %w", err)
	}
	return exitOK, nil
}

// parseRVA reads an address inside an image: hexadecimal, with or without 0x.
func parseRVA(word string) (uint32, error) {
	v, err := strconv.ParseUint(strings.TrimPrefix(strings.ToLower(word), "0x"), 16, 32)
	if errors.Is(err, strconv.ErrRange) {
		return 0, fmt.Errorf("%s is beyond the 4 GiB of an image; give addresses relative to its base", word)
	}
	if err != nil {
		return 0, fmt.Errorf("%q is not a hexadecimal address", word)
	}
	return uint32(v), nil
}

func readWords(r io.Reader) ([]string, error) {
	var words []string
	scanner := bufio.NewScanner(r)
	scanner.Split(bufio.ScanWords)
	for scanner.Scan() {
		words = append(words, scanner.Text())
	}
	return words, scanner.Err()
}
