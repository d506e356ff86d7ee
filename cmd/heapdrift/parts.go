//go:build !client

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"heapdrift/internal/blob"
	"heapdrift/internal/downloads"
	"heapdrift/internal/intake"
	"heapdrift/internal/memory"
	"heapdrift/internal/metrics"
	"heapdrift/internal/outage"
	"heapdrift/internal/queue"
	"heapdrift/internal/sandbox"
	"heapdrift/internal/slots"
	"heapdrift/internal/store"
	"heapdrift/internal/tracing/otlp"
	"heapdrift/web"
	"heapdrift/worker"
)

// parts are what every server process is made of.
type parts struct {
	config config
	log    *slog.Logger
	store  *store.Store
	blobs  blob.Store
	node   *queue.Node
	budget *memory.Budget
	// traces sends spans; nil where nothing is traced.
	traces *otlp.Exporter
	// metrics count the events of the process.
	metrics *metrics.Metrics
}

// A role says what a process does.
type role struct {
	web         bool // serves pages and the API
	work        bool // runs jobs
	freshBroker bool // Redis is this process's own
	atHome      bool // everything runs on this machine
}

// name is the command with this role.
func (r role) name() string {
	switch {
	case r.web && r.work:
		return "up"
	case r.work:
		return "work"
	}
	return "serve"
}

// openParts connects to everything. The database must be migrated.
func openParts(ctx context.Context, c config, r role, budget *memory.Budget, log *slog.Logger) (*parts, error) {
	p := &parts{config: c, log: log, budget: budget}
	var err error
	if p.traces, err = c.openTraces(ctx, r, log); err != nil {
		return nil, err
	}
	if p.store, err = store.Open(ctx, c.DatabaseURL); err != nil {
		return nil, err
	}
	if err := p.store.CheckSchema(ctx); err != nil {
		p.store.Close()
		return nil, err
	}
	if p.blobs, err = blob.Open(ctx, c.BlobURL); err != nil {
		p.store.Close()
		return nil, err
	}
	var outages *outage.Watch
	if r.work {
		outages = p.watchOutages()
	}
	p.store.HasBlob = hasBlob(p.blobs)
	p.metrics = metrics.New(metrics.Options{Store: p.store, Blobs: p.blobs, Version: buildVersion(),
		SchemaVersion: store.KnownSchema(), Outages: outages, Log: log})
	var handlers map[string]queue.Handler
	if r.work {
		library, err := symbolLibrary(nil)
		if err != nil {
			p.store.Close()
			return nil, err
		}
		handlers = withinBudget(budget,
			(&worker.Worker{Store: p.store, Blobs: p.blobs, Symbols: library, Searched: p.searched,
				Sandbox: c.readerSandbox(log)}).Handlers())
	}
	p.node, err = queue.New(p.store, handlers, queue.Options{RedisURL: c.RedisURL, Concurrency: c.Concurrency,
		FreshBroker: r.freshBroker, Role: r.name(), Version: buildVersion(), Ended: p.metrics.Job, Tracer: p.tracer(),
		Outages: outages, Log: log})
	if err != nil {
		p.store.Close()
		return nil, err
	}
	p.store.NodeID = p.node.ID()
	return p, nil
}

// hasBlob asks a store whether it has a blob.
func hasBlob(blobs blob.Store) func(context.Context, string) (bool, error) {
	return func(ctx context.Context, key string) (bool, error) {
		_, err := blobs.Stat(ctx, key)
		if errors.Is(err, blob.ErrNotFound) {
			return false, nil
		}
		return err == nil, err //nolint:wrapcheck // says all
	}
}

// retention is how long the server keeps what projects say nothing of.
func (c *config) retention() store.RetentionDefaults {
	return store.RetentionDefaults{EvidenceDays: c.KeepEvidence, EvidenceBytes: c.KeepEvidenceBytes,
		RunDays: c.KeepRuns, RunBytes: c.KeepRunBytes, SymbolDays: c.KeepSymbols, SymbolBytes: c.KeepSymbolBytes}
}

// watchOutages watches what the jobs of a worker need. Operators know a worker by its machine.
func (p *parts) watchOutages() *outage.Watch {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return outage.NewWatch(host, outage.OfTempDir(host), outage.OfBlobs(host, p.blobs),
		outage.OfDatabase(host, p.store.TryWrite))
}

// readerSandbox runs the tasks of package task in processes of their own; nil where the system does not support it.
// Beside the light jobs one heavy one may run.
func (c *config) readerSandbox(log *slog.Logger) *sandbox.Runner {
	if !sandbox.Supported {
		return nil
	}
	return &sandbox.Runner{BudgetParts: c.Concurrency + 1, Log: log}
}

// inspectionMemory is how much memory the inspection of one upload may take: the largest windows that archives need,
// and a reserve.
const inspectionMemory = 768 << 20

// uploadSandbox runs the inspection of uploads in processes of their own; nil as for readerSandbox.
func (c *config) uploadSandbox(log *slog.Logger) *sandbox.Runner {
	if !sandbox.Supported {
		return nil
	}
	return &sandbox.Runner{ChildMemory: inspectionMemory, Log: log}
}

// unpackingSlots are those of uploads that are unpacked at once: one per core, and at least two. One account leaves one
// for the others.
func unpackingSlots() *slots.Slots {
	all := max(2, runtime.NumCPU())
	return slots.New(slots.Limits{All: all, Project: all, Account: all - 1})
}

// searched counts the answers of the places that are asked for symbol files.
func (p *parts) searched(place, result string) {
	p.metrics.Searched(place, result)
	p.node.Searched(place, result)
}

// withinBudget ends jobs that exceed a worker's memory.
func withinBudget(budget *memory.Budget, handlers map[string]queue.Handler) map[string]queue.Handler {
	bounded := make(map[string]queue.Handler, len(handlers))
	for kind, handler := range handlers {
		bounded[kind] = func(ctx context.Context, job *queue.Job) error {
			err := budget.Do(ctx, func(ctx context.Context) error { return handler(ctx, job) })
			var exceeded *memory.LimitError
			if errors.As(err, &exceeded) {
				return &queue.Error{Code: memory.Code, Message: exceeded.Error(), Final: true}
			}
			return err
		}
	}
	return bounded
}

// downloads are the programs that the server gives away: those of a folder, and its own.
func (c *config) downloads() *downloads.Library {
	l := &downloads.Library{Dir: c.Downloads, Version: buildVersion()}
	if own, err := os.Executable(); err == nil {
		if l.Own = own; l.Dir == "" {
			l.Dir = filepath.Join(filepath.Dir(own), downloads.Folder)
		}
	}
	return l
}

func (p *parts) intake() *intake.Intake {
	return &intake.Intake{Store: p.store, Blobs: p.blobs, MaxBytes: p.config.MaxUpload, MinFree: p.config.MinFree,
		TokenQuota: p.config.TokenQuota, Taken: p.metrics.Uploaded, Sandbox: p.config.uploadSandbox(p.log),
		Unpacking: unpackingSlots()}
}

// run works until ctx is done: the queue's node, and the web server where the role has one. ready is called once the
// server listens.
func (p *parts) run(ctx context.Context, r role, ready func(ctx context.Context, at serverAddress) error) error {
	if r.work {
		n, err := p.store.RetryInternal(ctx, buildVersion())
		if err != nil {
			return err
		}
		if n > 0 {
			p.log.Info("runs that another version failed are tried again", "runs", n)
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return p.node.Run(ctx) })
	if r.work {
		keeper := &worker.Retention{Store: p.store, Blobs: p.blobs, Defaults: p.config.retention(), Log: p.log}
		group.Go(func() error { return keeper.Run(ctx) })
	}
	if p.config.Metrics != "" {
		listener, err := net.Listen("tcp", p.config.Metrics) //nolint:noctx // lives as long as the process
		if err != nil {
			return fmt.Errorf("listen on HEAPDRIFT_METRICS_LISTEN: %w", err)
		}
		monitor := &web.Monitor{Metrics: p.metrics.Handler(), Version: buildVersion(), Log: p.log,
			Checks: web.Checks(p.store, p.blobs, p.config.MinFree, p.node.Ping, p.checkWorker(r))}
		group.Go(func() error { return monitor.Serve(ctx, listener) })
		p.log.Info("metrics and health", "address", listener.Addr().String())
	}
	if r.web {
		proxies, err := web.ParseProxies(p.config.TrustProxy)
		if err != nil {
			return fmt.Errorf("environment: HEAPDRIFT_TRUST_PROXY: %w", err)
		}
		listener, err := net.Listen("tcp", p.config.Listen) //nolint:noctx // lives as long as the process
		if err != nil {
			return fmt.Errorf("listen on HEAPDRIFT_LISTEN: %w", err)
		}
		windows := &worker.WindowAnswers{
			Store: p.store, Blobs: p.blobs, ColumnBytes: min(maxColumns, int64(p.budget.Limit())/8),
			Sandbox: p.config.readerSandbox(p.log),
		}
		defer func() { _ = windows.Close() }() // read only
		server, err := web.New(web.Options{
			Store: p.store, Blobs: p.blobs, Intake: p.intake(), Windows: windows, Budget: p.budget, Log: p.log,
			Version: buildVersion(), Proxies: proxies, Hosts: hostsFor(listener.Addr(), p.config.Hosts),
			Access: p.config.access(r, listener.Addr()), Issuer: p.config.issuer(),
			PingQueue: p.node.Ping, CheckWorker: p.checkWorker(r), Answered: p.answered, Tracer: p.tracer(),
			Downloads: p.config.downloads(),
		})
		if err != nil {
			return errors.Join(err, listener.Close())
		}
		group.Go(func() error { return server.Serve(ctx, listener) })
		group.Go(func() error {
			return ready(ctx, serverAddress{listener.Addr().String(), p.config.access(r, listener.Addr())})
		})
	}
	defer p.endTraces(ctx)
	return group.Wait()
}

// checkWorker reports whether a worker takes jobs; nil for a process that runs none.
func (p *parts) checkWorker(r role) func(context.Context) error {
	if !r.work {
		return nil
	}
	return p.node.CheckOutage
}

// answered counts an answer of the web server.
func (p *parts) answered(a web.Answer) { p.metrics.Request(a.Class, a.Status, a.Code, a.Took) }

// maxColumns is how many bytes of a trace's allocation table the web server keeps decoded: some ten million rows.
const maxColumns = 256 << 20

// serve runs the web server; it hands jobs to the broker but runs none.
func serve(ctx context.Context, args []string, s streams) (int, error) {
	return runRole(ctx, args, s, role{web: true})
}

// work runs jobs.
func work(ctx context.Context, args []string, s streams) (int, error) {
	return runRole(ctx, args, s, role{work: true})
}

func runRole(ctx context.Context, args []string, s streams, r role) (int, error) {
	c, err := prepare(args)
	if err != nil {
		return exitUsage, err
	}
	log := c.logger(s.err)
	if err := waitFor(ctx, neededServices(c, r), log); err != nil {
		return exitOK, stopped(ctx, err)
	}
	p, err := openParts(ctx, c, r, s.budget, log)
	if err != nil {
		return exitInput, err
	}
	defer p.store.Close()
	return exitOK, p.run(ctx, r, func(ctx context.Context, at serverAddress) error {
		p.log.Info("listening", "address", at.address)
		return p.logAccess(ctx, at.access)
	})
}

// prepare reads the configuration of commands that take no arguments.
func prepare(args []string) (config, error) {
	if len(args) > 0 {
		return config{}, &usageError{"takes no arguments"}
	}
	c, err := loadConfig()
	if err != nil {
		return c, err
	}
	return c, c.need()
}

// migrate brings the database to this version.
func migrate(ctx context.Context, args []string, _ streams) (int, error) {
	if len(args) > 0 {
		return exitUsage, &usageError{"takes no arguments"}
	}
	c, err := loadConfig()
	if err != nil {
		return exitUsage, err
	}
	if c.DatabaseURL == "" {
		return exitUsage, &usageError{"HEAPDRIFT_DATABASE_URL is not set"}
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	return exitOK, store.Migrate(ctx, c.DatabaseURL)
}
