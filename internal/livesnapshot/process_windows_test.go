package livesnapshot

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/windows"

	"heapdrift/ingest/minidump"
	"heapdrift/internal/await"
	"heapdrift/internal/resumer"
)

// counter is the program counting.exe of TestUnderWine, in the folder where the tests run.
type counter struct {
	*testing.T
	*process
	at uint64 // where it counts
}

func startCounter(t *testing.T) *counter {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), `.\counting.exe`)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close() // it ends then
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	c := &counter{T: t}
	var pid uint32
	var at string
	if _, err := fmt.Sscan(line, &pid, &at); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(at, "%x", &c.at); err != nil {
		t.Fatal(err)
	}
	opened, err := open(pid)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(opened.Close)
	c.process = opened.(*process)
	return c
}

func (c *counter) count() uint64 {
	c.Helper()
	var b [8]byte
	if n, err := c.ReadMemory(b[:], c.at); n != len(b) {
		c.Fatalf("%d bytes, %v", n, err)
	}
	return le.Uint64(b[:])
}

// counts reports whether it counts on.
func (c *counter) counts() {
	c.Helper()
	from := c.count()
	await.Until(c, "the program to count on", func() bool { return c.count() > from })
}

// standsStill fails where a suspended program counts on.
func (c *counter) standsStill() {
	c.Helper()
	if _, err := c.Threads(); err != nil {
		c.Fatal(err)
	}
	at := c.count()
	for range 10_000 {
		if now := c.count(); now != at {
			c.Fatalf("it counted from %d to %d while it was suspended", at, now)
		}
	}
}

// A suspended process stands still; a resumed one goes on, after a limit as well.
func TestOnWindowsSuspend(t *testing.T) {
	c := startCounter(t)
	c.counts()
	if err := c.Suspend(); err != nil {
		t.Fatal(err)
	}
	c.standsStill()
	if err := c.Resume(); err != nil {
		t.Fatal(err)
	}
	c.counts()
	for _, limit := range []time.Duration{time.Nanosecond, time.Millisecond, time.Minute} {
		_, cost, err := Take(t.Context(), c.pid, Options{PauseLimit: limit})
		var refused *Error
		if err != nil && (!errors.As(err, &refused) || refused.Code != CodeLimit || !cost.LimitHit) {
			t.Errorf("limit %s: %#v, %v", limit, cost, err)
		}
		if cost.Pause <= 0 || cost.Pause > 10*time.Second {
			t.Errorf("limit %s: %#v", limit, cost)
		}
		c.counts()
	}
}

// TestMain is the resumer, too, and a program that suspends a process and is killed meanwhile.
func TestMain(m *testing.M) {
	resumer.Main()
	if text := os.Getenv(suspenderVariable); text != "" {
		suspend(text)
	}
	os.Exit(m.Run())
}

// suspenderVariable has the process that a suspender suspends.
const suspenderVariable = "LIVESNAPSHOT_SUSPEND"

func suspend(pid string) {
	n, err := strconv.ParseUint(pid, 10, 32)
	if err != nil {
		panic(err)
	}
	t, err := open(uint32(n))
	if err != nil {
		panic(err)
	}
	if err := t.Guard(); err != nil {
		panic(err)
	}
	if err := errors.Join(t.Suspend(), t.Resume(), t.Suspend()); err != nil { // the last one stays
		panic(err)
	}
	fmt.Println("suspended")
	select {}
}

// A process goes on when the program that has suspended it is killed.
func TestOnWindowsKilled(t *testing.T) {
	c := startCounter(t)
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", suspenderVariable, c.pid))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "suspended\n" {
		t.Fatalf("%q, %v", line, err)
	}
	c.standsStill()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	c.counts()
}

// Memory is read up to the end of what is committed, and regions cover the address space.
func TestOnWindowsMemory(t *testing.T) {
	c := startCounter(t)
	regions, err := listRegions(t.Context(), c)
	if err != nil || len(regions) < 20 {
		t.Fatalf("%d regions, %v", len(regions), err)
	}
	for i, r := range regions {
		if i > 0 && r.Base != regions[i-1].Base+regions[i-1].Size {
			t.Errorf("no region covers %#x to %#x", regions[i-1].Base+regions[i-1].Size, r.Base)
		}
		if i+1 == len(regions) || !isReadable(r) || isReadable(regions[i+1]) {
			continue
		}
		b := make([]byte, 2*pageBytes)
		m := newMemory(t.Context(), c, false, regions, &pause{})
		if n, err := m.ReadMemory(b, r.Base+r.Size-pageBytes); n != pageBytes || err == nil {
			t.Errorf("the last page of %+v: %d bytes, %v", r, n, err)
		}
		if n := m.read(b, r.Base+r.Size-pageBytes); n < pageBytes { // Wine reads on behind the end, and Windows does not
			t.Errorf("across the end of %+v: %d bytes", r, n)
		}
	}
	last := regions[len(regions)-1]
	if _, err := c.Query(last.Base + last.Size); !errors.Is(err, errEnd) {
		t.Errorf("behind the last region: %v", err)
	}
	if n, _ := c.ReadMemory(make([]byte, 16), 8); n != 0 {
		t.Errorf("%d bytes at the null pointer", n)
	}
}

// The facts are those of the process.
func TestOnWindowsFacts(t *testing.T) {
	c := startCounter(t)
	f := c.Facts()
	if f.Process.PID != c.pid || f.Host == "" || f.PEB == 0 || f.WOW64PEB != 0 || f.System.Arch != minidump.ArchX64 ||
		f.System.Major < 6 || f.System.Bits != 64 || f.Counters == nil || f.Counters.WorkingSet == 0 ||
		f.Machine == nil || f.Machine.Physical == 0 || f.Machine.CommitLimit < f.Machine.Committed {
		t.Errorf("%+v", f)
	}
	if age := time.Since(f.Process.Created); age < 0 || age > time.Hour {
		t.Errorf("started %s ago", age)
	}
	threads, err := c.Threads()
	if err != nil || len(threads) != 2 {
		t.Fatalf("%+v, %v", threads, err)
	}
	for _, thread := range threads {
		var self [8]byte // NT_TIB.Self
		if n, _ := c.ReadMemory(self[:], thread.TEB+0x30); n != len(self) || le.Uint64(self[:]) != thread.TEB ||
			thread.StartAddress == 0 {
			t.Errorf("%+v names %#x", thread, le.Uint64(self[:]))
		}
	}
}

// What cannot be opened is refused with a code.
func TestOnWindowsRefusals(t *testing.T) {
	for pid, want := range map[uint32]string{windows.GetCurrentProcessId(): CodeSelf, 0xFFFFFFFC: CodeProcess} {
		_, err := open(pid)
		var refused *Error
		if !errors.As(err, &refused) || refused.Code != want || refused.PID != pid || refused.Do == "" {
			t.Errorf("%d: %v, want %s", pid, err, want)
		}
	}
	ended := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	if err := ended.Start(); err != nil {
		t.Fatal(err)
	}
	_ = ended.Wait()
	if _, err := open(uint32(ended.Process.Pid)); err == nil {
		t.Error("a process that has ended was opened")
	}
}
