// Command latency measures how fast a server with a long history answers, page by page:
//
//	go run ./tools/latency http://127.0.0.1:8080 postgres://…
//	go run ./tools/latency -rate 50 -for 1m http://127.0.0.1:8080 postgres://…
//
// The database is that of the server, which tools/fill has filled. Runs, leaks and builds are drawn from it: each
// request is about another one, of the largest project in the first form, and half of the time in the second. With
// -others it is about the other projects. Without
// -rate one client asks for the pages one after the other. With -rate requests begin at that rate, whether or not those
// before have ended, so that time spent waiting counts. Printed are the time to the first byte of the answer and the
// bytes of the longest answer as sent, in zstd.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptrace"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "latency:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("latency", flag.ContinueOnError)
	requests := flags.Int("n", 20, "the `number` of requests for each page, without -rate")
	rate := flags.Float64("rate", 0, "`requests` a second, of all pages in turn; 0 for one client that asks page by page")
	length := flags.Duration("for", time.Minute, "how long to ask, with -rate")
	others := flags.Bool("others", false, "without -rate: ask about the other projects, and not about the largest")
	only := flags.String("only", "", "ask only for pages whose name has this `text`")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("flags: %w", err)
	}
	if flags.NArg() != 2 {
		return errors.New("give the addresses of the server and of its database")
	}
	conn, err := pgx.Connect(ctx, flags.Arg(1))
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	drawn, err := readSample(ctx, conn, 2000)
	_ = conn.Close(ctx) // only read
	if err != nil {
		return err
	}
	m := &meter{server: strings.TrimSuffix(flags.Arg(0), "/"), taken: map[string][]answer{}}
	asked := slices.DeleteFunc(slices.Clone(pages), func(p page) bool { return !strings.Contains(p.name, *only) })
	switch {
	case len(drawn.projects) < 2 && *others:
		return errors.New("the database has no project beside the largest")
	case *rate > 0:
		m.load(ctx, drawn, asked, *rate, *length)
	default:
		projects := drawn.projects[:1]
		if *others {
			projects = drawn.projects[1:]
		}
		m.walk(ctx, drawn, projects, asked, *requests)
	}
	m.print(out, asked)
	return m.failure
}

// An answer is what one request took.
type answer struct {
	first time.Duration // to the first byte
	bytes int64         // as sent
}

// A meter asks a server and keeps what answers took. It is safe for concurrent use.
type meter struct {
	server string

	mu      sync.Mutex
	taken   map[string][]answer // by the name of the page
	failure error               // the first one
}

// walk asks for each page, one request after the other, of the projects in turn; two more before are not counted.
func (m *meter) walk(ctx context.Context, drawn *sample, projects []string, asked []page, requests int) {
	for i := range asked {
		for n := range requests + 2 {
			m.ask(ctx, asked[i].name, drawn.address(&asked[i], projects[n%len(projects)]), n >= 2)
		}
	}
}

// load begins a request at each tick, and waits for all of them.
func (m *meter) load(ctx context.Context, drawn *sample, asked []page, rate float64, length time.Duration) {
	tick := time.NewTicker(time.Duration(float64(time.Second) / rate))
	defer tick.Stop()
	var open sync.WaitGroup
	for n := range int(rate * length.Seconds()) {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		p := &asked[n%len(asked)]
		address := drawn.address(p, drawn.draw())
		open.Go(func() { m.ask(ctx, p.name, address, true) })
	}
	open.Wait()
}

// ask takes one answer whole, and counts it where that is wanted.
func (m *meter) ask(ctx context.Context, name, path string, counts bool) {
	a, err := take(ctx, m.server+path)
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil && m.failure == nil {
		m.failure = fmt.Errorf("%s: %w", path, err)
	}
	if err == nil && counts {
		m.taken[name] = append(m.taken[name], a)
	}
}

func take(ctx context.Context, address string) (a answer, err error) {
	began := time.Now()
	first := func() { a.first = time.Since(began) }
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotFirstResponseByte: first})
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return a, fmt.Errorf("address: %w", err)
	}
	request.Header.Set("Accept-Encoding", "zstd")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return a, fmt.Errorf("ask: %w", err)
	}
	defer func() { _ = response.Body.Close() }() // read to its end
	if a.bytes, err = io.Copy(io.Discard, response.Body); err != nil {
		return a, fmt.Errorf("read: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return a, fmt.Errorf("the server answers %s", response.Status)
	}
	return a, nil
}

// print prints a line for each page, and one for all of them.
func (m *meter) print(out io.Writer, asked []page) {
	_, _ = fmt.Fprintf(out, "%-28s %8s %8s %8s %8s %8s\n", "page", "requests", "p50 ms", "p99 ms", "max ms", "max KB")
	var all []answer
	for i := range asked {
		list := m.taken[asked[i].name]
		all = append(all, list...)
		printLine(out, asked[i].name, list)
	}
	printLine(out, "all", all)
}

func printLine(out io.Writer, name string, list []answer) {
	if len(list) == 0 {
		return
	}
	firsts, most := make([]time.Duration, len(list)), int64(0)
	for i, a := range list {
		firsts[i], most = a.first, max(most, a.bytes)
	}
	slices.Sort(firsts)
	ms := func(share float64) float64 { return float64(percentile(firsts, share).Microseconds()) / 1000 }
	_, _ = fmt.Fprintf(out, "%-28s %8d %8.1f %8.1f %8.1f %8.1f\n", name, len(list), ms(0.5), ms(0.99), ms(1), float64(most)/1000)
}

// percentile is the least of ascending values that a share of them, 0 to 1, does not exceed.
func percentile(ascending []time.Duration, share float64) time.Duration {
	return ascending[max(0, int(math.Ceil(share*float64(len(ascending))))-1)]
}
