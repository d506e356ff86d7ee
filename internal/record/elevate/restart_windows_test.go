package elevate

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"
)

// childCommand is what Restart starts in these tests, and childCode how it ends.
const childCommand, childCode = "child", 7

// TestMain is the child, too.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == childCommand {
		os.Exit(child())
	}
	os.Exit(m.Run())
}

// A saying is what the child tells of itself.
type saying struct {
	Args    []string
	Dir     string
	Project string
	Input   string
}

// child tells what it has got of its parent. With the argument wait it waits until it is interrupted.
func child() int {
	name, args := Parent(os.Args[2:])
	if len(args) > 0 && args[0] == "deaf" {
		return childCode
	}
	ctx, in, out, errs, err := Adopt(context.Background(), name)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Fprintln(errs, "a line for errors")
	if len(args) > 0 && args[0] == "wait" {
		fmt.Fprintln(out, "waiting")
		<-ctx.Done()
		fmt.Fprintln(out, "interrupted")
		return childCode
	}
	input, _ := io.ReadAll(in)
	dir, _ := os.Getwd()
	text, _ := json.Marshal(saying{args, dir, os.Getenv("HEAPDRIFT_PROJECT"), string(input)})
	fmt.Fprintf(out, "%s\n", text)
	// A program that the child starts writes to the same console.
	echo := exec.Command("cmd", "/c", "echo from below")
	echo.Stdout = os.Stdout
	if err := echo.Run(); err != nil {
		fmt.Fprintln(errs, err)
	}
	return childCode
}

// The child has the arguments, the folder, the environment and the standard streams of its parent, and the parent ends
// with its code.
func TestOnWindowsRestart(t *testing.T) {
	t.Setenv("HEAPDRIFT_PROJECT", "größe 日本")
	args := []string{"--build", "a b", "--", "app.exe", `say "hi"`, `dir\`, `dir x\`, "", `a\"b`, "x&y", "%PATH%", "日本", "--elevated-from=x"}
	var out, errs bytes.Buffer
	code, err := Restart(t.Context(), append([]string{childCommand}, args...), nil, strings.NewReader("first\nsecond\n"), &out, &errs)
	if err != nil || code != childCode {
		t.Fatalf("%d, %v\n%s%s", code, err, &out, &errs)
	}
	text, below, _ := strings.Cut(out.String(), "\n")
	var got saying
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatalf("%v: %s", err, &out)
	}
	dir, _ := os.Getwd()
	if want := (saying{args, dir, "größe 日本", "first\nsecond\n"}); !reflect.DeepEqual(got, want) {
		t.Errorf("\n%+v\nwant\n%+v", got, want)
	}
	if !strings.HasPrefix(below, "from below") || errs.String() != "a line for errors\n" {
		t.Errorf("output %q, errors %q", below, &errs)
	}
}

// Output of more than the pipes hold arrives whole, and variables of the call go before those of the console.
func TestOnWindowsMoreEnvironment(t *testing.T) {
	t.Setenv("HEAPDRIFT_PROJECT", "console")
	long := strings.Repeat("x", 20_000)
	var out, errs bytes.Buffer
	input := strings.Repeat("0123456789", 3*pipeBuffer/10)
	_, err := Restart(t.Context(), []string{childCommand, long}, []string{"HEAPDRIFT_PROJECT=call"}, strings.NewReader(input), &out, &errs)
	var got saying
	text, _, _ := strings.Cut(out.String(), "\n")
	if err := json.Unmarshal([]byte(text), &got); err != nil || got.Project != "call" || got.Input != input || got.Args[0] != long {
		t.Errorf("%v: %q, %d bytes of input", err, got.Project, len(got.Input))
	}
	if err != nil {
		t.Error(err)
	}
}

// The end of the parent's context interrupts the child, which ends in its own time.
func TestOnWindowsInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	var lines []string
	read := make(chan struct{})
	go func() {
		defer close(read)
		for scan := bufio.NewScanner(reader); scan.Scan(); {
			if lines = append(lines, scan.Text()); len(lines) == 1 {
				cancel()
			}
		}
	}()
	code, err := Restart(ctx, []string{childCommand, "wait"}, nil, strings.NewReader(""), writer, io.Discard)
	_ = writer.Close()
	<-read
	if err != nil || code != childCode || strings.Join(lines, " ") != "waiting interrupted" {
		t.Errorf("%d, %v, %q", code, err, lines)
	}
}

// A child that ends before it has opened its console is not waited for.
func TestOnWindowsDeafChild(t *testing.T) {
	code, err := Restart(t.Context(), []string{childCommand, "deaf"}, nil, strings.NewReader("x"), io.Discard, io.Discard)
	if err != nil || code != childCode {
		t.Errorf("%d, %v", code, err)
	}
}
