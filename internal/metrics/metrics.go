// Package metrics tells a Prometheus what a process does and how the installation stands. In come events of the process
// and, at each scrape, figures of the database; out goes a handler. Labels are few: kinds, states and codes of ours,
// hosts of symbol servers that are allowed, and the projects that take the most.
package metrics

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"heapdrift/internal/blob"
	"heapdrift/internal/outage"
	"heapdrift/internal/store"
	"heapdrift/internal/tempfile"
)

// Options say what is measured. Store and Blobs are required.
type Options struct {
	Store         *store.Store
	Blobs         blob.Store
	Version       string
	SchemaVersion int64 // version of the schema that this program knows
	// Outages watches what the worker in this process needs; nil where there is none.
	Outages *outage.Watch
	Log     *slog.Logger
}

// Metrics are the metrics of a process. All methods are safe for concurrent use, and do nothing on nil.
type Metrics struct {
	registry *prometheus.Registry
	jobs     *prometheus.HistogramVec
	requests *prometheus.CounterVec
	latency  *prometheus.HistogramVec
	refusals *prometheus.CounterVec
	uploaded prometheus.Counter
	searches *prometheus.CounterVec
}

// New makes the metrics of a process.
func New(opt Options) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		jobs: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "heapdrift_job_seconds", Help: "How long jobs took in this process, by kind and outcome.",
			Buckets: prometheus.ExponentialBuckets(0.01, 4, 9),
		}, []string{"kind", "outcome"}),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "heapdrift_http_requests_total",
			Help: "Requests that this process answered, by class of status."}, []string{"status"}),
		latency: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "heapdrift_http_request_seconds",
			Help:    "How long answers took, by class of route; uploads and waiting requests take as long as their clients.",
			Buckets: prometheus.ExponentialBuckets(0.005, 2.5, 10)}, []string{"class"}),
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "heapdrift_http_refusals_total",
			Help: "Requests that this process refused, by the code of the problem."}, []string{"code"}),
		uploaded: prometheus.NewCounter(prometheus.CounterOpts{Name: "heapdrift_uploaded_bytes_total",
			Help: "Bytes of files that this process took in."}),
		searches: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "heapdrift_symbol_searches_total",
			Help: "Searches of this process for symbol files, by the place that was asked and what it answered.",
		}, []string{"place", "result"}),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "heapdrift_build_info", Help: "Always 1; its labels are the version and the schema that it knows.",
		ConstLabels: prometheus.Labels{"version": opt.Version, "schema": strconv.FormatInt(opt.SchemaVersion, 10)},
	})
	build.Set(1)
	m.registry.MustRegister(m.jobs, m.requests, m.latency, m.refusals, m.uploaded, m.searches, build,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), &figures{opt: opt})
	return m
}

// Handler answers scrapes.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
}

// Job counts a job that has ended.
func (m *Metrics) Job(kind, outcome string, took time.Duration) {
	if m != nil {
		m.jobs.WithLabelValues(kind, outcome).Observe(took.Seconds())
	}
}

// Request counts a request that was answered. code is that of its problem, "" where it was not refused.
func (m *Metrics) Request(class string, status int, code string, took time.Duration) {
	if m == nil {
		return
	}
	m.requests.WithLabelValues(strconv.Itoa(status/100) + "xx").Inc()
	m.latency.WithLabelValues(class).Observe(took.Seconds())
	if code != "" {
		m.refusals.WithLabelValues(code).Inc()
	}
}

// Uploaded counts a file that was accepted, and its bytes.
func (m *Metrics) Uploaded(bytes int64) {
	if m != nil {
		m.uploaded.Add(float64(bytes))
	}
}

// Searched counts a search for a symbol file by the place that was asked and its result.
func (m *Metrics) Searched(place, result string) {
	if m != nil {
		m.searches.WithLabelValues(place, result).Inc()
	}
}

const (
	figuresAge     = 5 * time.Second // several who scrape ask the database once
	figuresTimeout = 5 * time.Second
	mostProjects   = 50
)

// figures are the database's, as a prometheus.Collector.
type figures struct {
	opt Options

	mu   sync.Mutex
	at   time.Time
	last []prometheus.Metric
}

var (
	jobsDesc = prometheus.NewDesc("heapdrift_jobs", "Jobs by kind and state; failed are those of the last day.",
		[]string{"kind", "state"}, nil)
	oldestDesc = prometheus.NewDesc("heapdrift_jobs_oldest_seconds", "Age of the oldest job by kind and state.",
		[]string{"kind", "state"}, nil)
	attemptsDesc = prometheus.NewDesc("heapdrift_jobs_attempts", "Most attempts that a job has had, by kind and state.",
		[]string{"kind", "state"}, nil)
	stuckDesc = prometheus.NewDesc("heapdrift_jobs_stuck",
		"Jobs that are due for ten minutes, or whose worker is gone and that nobody has taken back.", nil, nil)
	bytesDesc = prometheus.NewDesc("heapdrift_evidence_bytes",
		"Bytes of uploaded files by project; of the fifty that have the most.", []string{"project"}, nil)
	runsDesc  = prometheus.NewDesc("heapdrift_runs", "Runs by project; of the same.", []string{"project"}, nil)
	freedDesc = prometheus.NewDesc("heapdrift_freed_bytes",
		"Bytes that the rules of the life cycle freed in the last 30 days, by what they deleted.", []string{"what"}, nil)
	longestDesc = prometheus.NewDesc("heapdrift_jobs_longest_wait_seconds",
		"How long the job has waited that waits longest, since it was due; 0 where none waits.", nil, nil)
	nodesDesc = prometheus.NewDesc("heapdrift_nodes",
		"Servers and workers of the installation that were heard of lately, by role and state: takes-jobs, serves, stopped, silent.",
		[]string{"role", "state"}, nil)
	tempDesc   = prometheus.NewDesc("heapdrift_temp_free_bytes", "Bytes that are free in TMPDIR of this process.", nil, nil)
	outageDesc = prometheus.NewDesc("heapdrift_worker_outage",
		"1 for the part for whose outage the worker in this process takes no jobs, else 0.", []string{"part"}, nil)
	freeDesc = prometheus.NewDesc("heapdrift_disk_free_bytes",
		"Bytes that are free on the disk of the blobs, where they lie on one.", nil, nil)
	schemaDesc = prometheus.NewDesc("heapdrift_schema_version", "Version of the database's schema.", nil, nil)
	upDesc     = prometheus.NewDesc("heapdrift_database_up",
		"1 where the database gave the figures of this scrape.", nil, nil)
)

// Describe implements prometheus.Collector.
func (f *figures) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{jobsDesc, oldestDesc, attemptsDesc, stuckDesc, bytesDesc, runsDesc, freedDesc,
		longestDesc, nodesDesc, tempDesc, outageDesc, freeDesc, schemaDesc, upDesc} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (f *figures) Collect(to chan<- prometheus.Metric) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if time.Since(f.at) > figuresAge {
		ctx, cancel := context.WithTimeout(context.Background(), figuresTimeout)
		defer cancel()
		list, err := f.look(ctx)
		up := 1.0
		if err != nil {
			up = 0
			if f.opt.Log != nil {
				f.opt.Log.Warn("metrics: no figures of the database", "error", err)
			}
		}
		list = append(list, gauge(upDesc, up))
		f.at, f.last = time.Now(), list
		if free, known := blob.FreeBytes(f.opt.Blobs); known {
			f.last = append(f.last, gauge(freeDesc, float64(free)))
		}
	}
	for _, m := range f.last {
		to <- m
	}
	for _, m := range f.own() {
		to <- m
	}
}

// own are figures of this process alone.
func (f *figures) own() (list []prometheus.Metric) {
	if free, _, known := tempfile.Space(os.TempDir()); known {
		list = append(list, gauge(tempDesc, float64(free)))
	}
	if f.opt.Outages == nil {
		return list
	}
	now, _ := f.opt.Outages.Current()
	for _, part := range outage.Parts {
		value := 0.0
		if now != nil && now.Part == part {
			value = 1
		}
		list = append(list, gauge(outageDesc, value, string(part)))
	}
	return list
}

// stateOf is the state of a node, as a label.
func stateOf(n *store.NodeRecord, now time.Time) string {
	switch {
	case n.IsSilent(now):
		return "silent"
	case n.Says != "":
		return "stopped"
	case n.Slots == 0:
		return "serves"
	}
	return "takes-jobs"
}

// ofNodes counts nodes by role and state.
func ofNodes(nodes []store.NodeRecord, now time.Time) (list []prometheus.Metric) {
	count := map[[2]string]int{}
	for i := range nodes {
		count[[2]string{nodes[i].Role, stateOf(&nodes[i], now)}]++
	}
	for at, n := range count {
		list = append(list, gauge(nodesDesc, float64(n), at[0], at[1]))
	}
	return list
}

func gauge(d *prometheus.Desc, value float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
}

func (f *figures) look(ctx context.Context) (list []prometheus.Metric, err error) {
	err = f.opt.Store.View(ctx, func(v store.View) error {
		jobs, err := v.ListQueueFigures(ctx)
		if err != nil {
			return err
		}
		longest := 0.0
		for _, q := range jobs {
			if q.State == "queued" {
				longest = max(longest, q.Oldest)
			}
			list = append(list, gauge(jobsDesc, float64(q.Count), q.Kind, q.State), gauge(oldestDesc, q.Oldest, q.Kind, q.State),
				gauge(attemptsDesc, float64(q.Attempts), q.Kind, q.State))
		}
		list = append(list, gauge(longestDesc, longest))
		nodes, err := v.ListNodes(ctx)
		if err != nil {
			return err
		}
		list = append(list, ofNodes(nodes, time.Now())...)
		stuck, err := v.CountStuckJobs(ctx)
		if err != nil {
			return err
		}
		list = append(list, gauge(stuckDesc, float64(stuck)))
		freed, err := v.ListFreedFigures(ctx)
		if err != nil {
			return err
		}
		for _, f := range freed {
			list = append(list, gauge(freedDesc, float64(f.Bytes), f.What))
		}
		projects, err := v.ListProjectFigures(ctx, mostProjects)
		for _, p := range projects {
			list = append(list, gauge(bytesDesc, float64(p.Bytes), p.Project), gauge(runsDesc, float64(p.Runs), p.Project))
		}
		return err
	})
	if err != nil {
		return list, err
	}
	schema, err := f.opt.Store.FindSchemaVersions(ctx)
	return append(list, gauge(schemaDesc, float64(schema.Have))), err
}
