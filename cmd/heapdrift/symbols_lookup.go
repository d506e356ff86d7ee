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
	"heapdrift/internal/symbols/index"
)

// symbolsLookup prints what a PDB or an image says about addresses, one tab-separated line each: address, function,
// displacement, file, line, and the chain of inlined calls, innermost first. Why a file has no answers is said on the
// standard error, and the exit code is 4 then.
func symbolsLookup(ctx context.Context, args []string, s streams) (int, error) {
	rest, err := parse(flag.NewFlagSet("symbols lookup", flag.ContinueOnError), args, s)
	if err != nil {
		return exitUsage, err
	}
	if len(rest) == 0 {
		return exitUsage, &usageError{"no file given"}
	}
	rvas, err := readRVAs(rest[1:], s.in)
	if usage := (*usageError)(nil); errors.As(err, &usage) {
		return exitUsage, err
	}
	if err != nil {
		return exitInput, err
	}
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // it is over before much is garbage
	out := bufio.NewWriterSize(s.out, 64<<10)
	var line []byte
	var failed error // of the output
	outcome, err := symbols.Lookup(ctx, rest[0], rvas, func(rva uint32, at *index.Location) error {
		line = appendRow(line[:0], rva, at)
		_, failed = out.Write(line)
		return failed
	})
	if err == nil {
		failed = out.Flush()
	}
	switch {
	case failed != nil:
		return exitInput, fmt.Errorf("write: %w", failed)
	case err != nil:
		return exitInput, fmt.Errorf("%s: %w", rest[0], err)
	}
	if outcome.From != "" {
		fmt.Fprintf(s.err, "heapdrift: %s: answered by %s\n", rest[0], outcome.From)
	}
	if outcome.Note != "" {
		fmt.Fprintf(s.err, "heapdrift: %s: %s\n", rest[0], outcome.Note)
	}
	if outcome.Useless {
		return exitInconclusive, nil
	}
	return exitOK, nil
}

// appendRow writes what is known of an address as a line.
func appendRow(line []byte, rva uint32, l *index.Location) []byte {
	line = strconv.AppendUint(append(line, "0x"...), uint64(rva), 16)
	line = append(append(append(line, '\t'), l.Function...), '\t')
	if l.Function != "" {
		line = strconv.AppendUint(line, uint64(l.Displacement), 10)
	}
	line = append(append(append(line, '\t'), l.File...), '\t')
	if l.Line != 0 { // compilers' marks are none
		line = strconv.AppendUint(line, uint64(l.Line), 10)
	}
	line = append(line, '\t')
	for k := range l.Inlines {
		c := &l.Inlines[k]
		if k > 0 {
			line = append(line, '>')
		}
		line = append(append(append(append(line, c.Function...), '@'), c.File...), ':')
		if c.Line != 0 {
			line = strconv.AppendUint(line, uint64(c.Line), 10)
		}
	}
	return append(line, '\n')
}

// readRVAs reads addresses from words, or from in where there are none.
func readRVAs(words []string, in io.Reader) ([]uint32, error) {
	var rvas []uint32
	add := func(word []byte) error {
		rva, ok := plainRVA(word)
		if !ok {
			var err error
			if rva, err = parseRVA(string(word)); err != nil {
				return &usageError{err.Error()}
			}
		}
		rvas = append(rvas, rva)
		return nil
	}
	for _, word := range words {
		if err := add([]byte(word)); err != nil {
			return nil, err
		}
	}
	if len(words) > 0 {
		return rvas, nil
	}
	scanner := bufio.NewScanner(in)
	scanner.Split(bufio.ScanWords)
	for scanner.Scan() {
		if err := add(scanner.Bytes()); err != nil {
			return nil, err
		}
	}
	if err := scanner.Err(); err != nil {
		return nil, fmt.Errorf("read addresses: %w", err)
	}
	return rvas, nil
}

// plainRVA reads an address in lower case with 0x, as programs print it.
func plainRVA(word []byte) (rva uint32, ok bool) {
	if len(word) < 3 || len(word) > 10 || word[0] != '0' || word[1] != 'x' {
		return 0, false
	}
	for _, c := range word[2:] {
		switch {
		case c >= '0' && c <= '9':
			rva = rva<<4 | uint32(c-'0')
		case c >= 'a' && c <= 'f':
			rva = rva<<4 | uint32(c-'a'+10)
		default:
			return 0, false
		}
	}
	return rva, true
}

// parseRVA reads an address inside an image: hexadecimal, with or without 0x.
func parseRVA(word string) (uint32, error) {
	v, err := strconv.ParseUint(strings.TrimPrefix(strings.ToLower(word), "0x"), 16, 32)
	if errors.Is(err, strconv.ErrRange) {
		return 0, fmt.Errorf("%s is beyond the 4 GiB of an image; pass addresses relative to its base", word)
	}
	if err != nil {
		return 0, fmt.Errorf("%q is not a hexadecimal address", word)
	}
	return uint32(v), nil
}
