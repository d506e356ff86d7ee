package collect

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"heapdrift/internal/record/flags"
	"heapdrift/internal/record/target"
)

const umdhName = "umdh.exe"

// newUMDH takes snapshots with Microsoft's umdh.exe.
func newUMDH(t *Tools, stacks flags.Want) *Collector {
	return &Collector{Kind: UMDH, Extension: ".txt", Want: stacks,
		Needs: func(bits int) error {
			_, err := t.Find(umdhName, bits)
			return err
		},
		Take: func(ctx context.Context, p target.Info, path string, _ *float64) (Cost, error) {
			return takeUMDH(ctx, t, p, path)
		},
		Costs: "umdh.exe reads the process without a pause, or with one that Windows does not report"}
}

func takeUMDH(ctx context.Context, t *Tools, p target.Info, path string) (Cost, error) {
	program, err := t.Find(umdhName, p.Bits)
	if err != nil {
		return Cost{}, err
	}
	began := time.Now()
	out, err := t.Run(ctx, program, fmt.Sprintf("-p:%d", p.PID), "-f:"+path)
	if err != nil {
		return Cost{}, fmt.Errorf("umdh: %w: %s", err, lastLine(out))
	}
	cost := Cost{Took: time.Since(began)}
	info, err := os.Stat(path)
	if err != nil {
		return cost, fmt.Errorf("umdh ended well and wrote no file: %w: %s", err, lastLine(out))
	}
	cost.Bytes = info.Size()
	if cost.Bytes == 0 {
		return cost, fmt.Errorf("umdh wrote an empty file: %s", lastLine(out))
	}
	stacks, err := hasStacks(path)
	if err != nil {
		return cost, fmt.Errorf("umdh: %w", err)
	}
	if !stacks {
		cost.Notes = append(cost.Notes,
			"the log names no call stack: the process started before +ust was set, or umdh.exe is of a Windows 11 SDK before 10.0.28000")
	}
	return cost, nil
}

// backTrace is how logs name a stack; BackTrace0 is none.
const backTrace = "BackTrace"

// hasStacks reports whether a log names a stack.
func hasStacks(path string) (bool, error) {
	file, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	reader := bufio.NewReader(file)
	for {
		line, err := reader.ReadSlice('\n')
		line = bytes.ReplaceAll(line, []byte{0}, nil) // UTF-16
		if i := bytes.Index(line, []byte(backTrace)); i >= 0 {
			id := strings.Trim(string(line[i+len(backTrace):]), " \r\n0")
			if id != "" {
				return true, nil
			}
		}
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return false, err
		}
	}
}

// lastLine is what a program said last, which is its error as a rule.
func lastLine(out string) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
