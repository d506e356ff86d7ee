// Package api is version 1 of the HTTP API, which scripts, CI jobs and the upload page use, and the symbol server. In
// come requests with JSON, forms or files; out go JSON, files, or problem+json where a request fails. One file holds
// one endpoint. openapi.yaml describes all of them, and a test compares it with the routes.
package api

import (
	"cmp"
	"log/slog"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/blob"
	"heapdrift/internal/intake"
	"heapdrift/internal/memory"
	"heapdrift/internal/query"
	"heapdrift/internal/slots"
	"heapdrift/internal/store"
)

// Options are what the API works with. Zero durations take the defaults.
type Options struct {
	Store  *store.Store
	Blobs  blob.Store
	Intake *intake.Intake
	// Windows computes the numbers of windows of traces.
	Windows WindowAnswers
	// Queries caches the reports that selections are answered from; nil for a cache of its own.
	Queries *query.IndexCache
	// Budget limits the memory of reports that are read or made; nil for no limit.
	Budget *memory.Budget
	Log    *slog.Logger
	// Closing is closed when the server shuts down: requests that wait and resumable
	// uploads end early, with what there is.
	Closing <-chan struct{}
	// Watch signals changes of a run's jobs until stop is called; nil where there are no signals: requests then look
	// every Poll.
	Watch func(run int64) (changed <-chan struct{}, stop func())
	Poll  time.Duration // how often a waiting request looks at the run; 1 s
	Idle  time.Duration // after how long without a byte an upload's connection is closed; 30 s
}

// An API holds the handlers.
type API struct {
	store   *store.Store
	blobs   blob.Store
	intake  *intake.Intake
	windows WindowAnswers
	queries *query.IndexCache
	budget  *memory.Budget
	log     *slog.Logger
	closing <-chan struct{}
	watch   func(run int64) (<-chan struct{}, func())
	poll    time.Duration
	idle    time.Duration

	claims      claims
	receiving   *slots.Slots  // one per request that buffers a part
	finishing   *slots.Slots  // one per request that holds a lock's connection and needs another one
	conversions chan struct{} // a slot per report that is being converted
	unpacking   chan struct{} // a slot per PDB that is being unpacked
}

// How many requests may do at once what costs memory or connections; the others wait their turn.
const (
	maxConversions = 2 // a report of 100,000 sites takes some hundred MB while it is converted
	maxUnpacking   = 4 // a container keeps 32 MB of chunks and 16 MB of the file
)

// receivingLimits and finishingLimits bound the same for uploads, which last: one account leaves slots for the others.
var (
	receivingLimits = slots.Limits{All: 32, Project: 16, Account: 8} // times partBytes of memory
	// Far below the connections that a store has: holders of one must always get their second.
	finishingLimits = slots.Limits{All: 3, Project: 2, Account: 2}
)

// New makes an API.
func New(opt Options) *API {
	a := &API{
		store: opt.Store, blobs: opt.Blobs, intake: opt.Intake, windows: opt.Windows, queries: opt.Queries,
		budget: opt.Budget, log: opt.Log, closing: opt.Closing, watch: opt.Watch,
		poll: cmp.Or(opt.Poll, time.Second), idle: cmp.Or(opt.Idle, 30*time.Second),
		receiving: slots.New(receivingLimits), finishing: slots.New(finishingLimits),
		conversions: make(chan struct{}, maxConversions),
		unpacking:   make(chan struct{}, maxUnpacking),
	}
	a.claims = claims{held: map[string]chan struct{}{}, patience: a.idle / 10}
	if a.log == nil {
		a.log = slog.New(slog.DiscardHandler)
	}
	if a.windows == nil {
		a.windows = noWindows{}
	}
	if a.queries == nil {
		a.queries = &query.IndexCache{Blobs: opt.Blobs, Budget: opt.Budget}
	}
	if a.watch == nil {
		a.watch = func(int64) (<-chan struct{}, func()) { return nil, func() {} }
	}
	return a
}

// Register adds the routes.
func (a *API) Register(e *echo.Echo) {
	e.PUT("/api/v1/evidence", a.evidencePut)
	e.OPTIONS("/api/v1/evidence", a.uploadOptions, tus)
	e.POST("/api/v1/evidence", a.uploadCreate, tus)
	e.HEAD("/api/v1/evidence/:id", a.uploadHead, tus)
	e.PATCH("/api/v1/evidence/:id", a.uploadPatch, tus)
	e.DELETE("/api/v1/evidence/:id", a.uploadDelete, tus)
	e.POST("/api/v1/evidence/:id", a.uploadOverride, tus)
	e.PUT("/api/v1/symbols", a.symbolsPut)
	e.GET(symbolServer+":name/:key/:file", a.symbolGet)
	e.HEAD(symbolServer+":name/:key/:file", a.symbolGet)
	e.GET(symbolServer+":name/:key/msfz0/:file", a.symbolGet)
	e.HEAD(symbolServer+":name/:key/msfz0/:file", a.symbolGet)
	e.GET(symbolServer+"*", symbolMissing)
	e.HEAD(symbolServer+"*", symbolMissing)
	e.GET("/api/v1/runs/:id", a.runShow)
	e.POST("/api/v1/runs/:id/complete", a.runComplete)
	e.PUT("/api/v1/runs/:id/recording", a.recordingPut)
	e.POST("/api/v1/projects/:project/restored", a.restoredPost)
	e.POST("/api/v1/restored", a.restoredByKeyPost)
	e.POST("/api/v1/runs/:id/symbolise", a.runSymbolise)
	e.POST("/api/v1/runs/:id/retry", a.runRetry)
	e.POST("/api/v1/runs/:id/cancel", a.runCancel)
	e.POST("/api/v1/runs/:id/process", a.runProcess)
	e.GET("/api/v1/runs/:id/report", a.runReport)
	e.GET("/api/v1/runs/:id/window", a.runWindow)
	e.GET("/api/v1/runs/:id/views/:view", a.runView)
	e.GET("/api/v1/runs/:id/allocations", a.runAllocations)
	e.HEAD("/api/v1/runs/:id/allocations", a.runAllocations)
	e.GET("/api/v1/runs/:id/verdict", a.runVerdict)
	e.GET("/api/v1/runs/:id/decisions", a.runDecisions)
	e.GET("/api/v1/runs/:id/unaccepted", a.runReview)
	e.GET("/api/v1/runs/:id/tests", a.runTests)
	e.POST("/api/v1/runs/:id/accept", a.runAccept)
	e.GET("/api/v1/compare", a.compareShow)
	e.GET("/api/v1/compare/tree", a.compareTree)
	e.POST("/api/v1/projects", a.projectAdd)
	e.GET("/api/v1/projects/:project", a.projectShow)
	e.PATCH("/api/v1/projects/:project", a.projectPatch)
	e.GET("/api/v1/projects/:project/builds/:build", a.buildShow)
	e.PATCH("/api/v1/projects/:project/builds/:build", a.buildPatch)
	e.PUT("/api/v1/projects/:project/builds/:build/ancestors", a.ancestorsPut)
	e.POST("/api/v1/projects/:project/builds/:build/symbols", a.buildSymbols)
	e.POST("/api/v1/projects/:project/baseline", a.baselinePost)
	e.GET("/api/v1/projects/:project/audit", a.projectAudit)
	e.GET("/api/v1/projects/:project/rules", a.rulesGet)
	e.PUT("/api/v1/projects/:project/rules", a.rulesPut)
	e.POST("/api/v1/projects/:project/rules/import", a.rulesImport)
	e.GET("/api/v1/projects/:project/suppressions", a.suppressions)
	e.POST("/api/v1/projects/:project/rules/preview", a.rulesPreview)
	e.GET("/api/v1/projects/:project/policy", a.policyGet)
	e.PUT("/api/v1/projects/:project/policy", a.policyPut)
	e.POST("/api/v1/projects/:project/policy/preview", a.policyPreview)
	e.GET("/api/v1/projects/:project/signatures", a.signatureList)
	e.GET("/api/v1/projects/:project/signatures/:signature", a.signatureShow)
	e.PATCH("/api/v1/projects/:project/signatures/:signature", a.signaturePatch)
	e.GET("/api/v1/projects/:project/signatures/:signature/audit", a.signatureAudit)
	e.POST("/api/v1/projects/:project/signatures/:signature/comments", a.signatureComment)
	e.POST("/api/v1/projects/:project/signatures/:signature/merge", a.signatureMerge)
	e.GET("/api/v1/projects/:project/tokens", a.tokenList)
	e.POST("/api/v1/projects/:project/tokens", a.tokenAdd)
	e.DELETE("/api/v1/projects/:project/tokens/:number", a.tokenRevoke)
	e.GET("/api/v1/projects/:project/members", a.memberList)
	e.PUT("/api/v1/projects/:project/members/:user", a.memberPut)
	e.DELETE("/api/v1/projects/:project/members/:user", a.memberDelete)
	e.GET("/api/v1/audit", a.serverAudit)
	e.GET("/api/v1/failures", a.failureList)
	e.POST("/api/v1/failures/retry", a.failureRetry)
	e.GET("/api/v1/runs/:id/evidence/:file", a.evidenceGet)
	e.DELETE("/api/v1/runs/:id/evidence/:file", a.evidenceDelete)
	e.DELETE("/api/v1/runs/:id", a.runDelete)
	e.DELETE("/api/v1/projects/:project/builds/:build", a.buildDelete)
	e.DELETE("/api/v1/projects/:project", a.projectDelete)
	e.GET("/api/v1/projects/:project/retention", a.retentionShow)
	e.PUT("/api/v1/projects/:project/retention", a.retentionPut)
	e.PUT("/api/v1/projects/:project/hold", a.projectHold)
	e.DELETE("/api/v1/projects/:project/hold", a.projectHold)
	e.PUT("/api/v1/runs/:id/hold", a.runHold)
	e.DELETE("/api/v1/runs/:id/hold", a.runHold)
	e.GET("/api/v1/openapi.yaml", a.openapi)
}

// runID is the number of a run in the address; anything else than a number names no run.
func runID(c echo.Context) (int64, error) {
	id, err := strconv.ParseInt(c.Param("id"), 10, 64)
	if err != nil {
		return 0, store.ErrNotFound
	}
	return id, nil
}

// runResource is the address of a run in the API.
func runResource(run int64) string { return "/api/v1/runs/" + strconv.FormatInt(run, 10) }

// fresh answers with a body that no cache may keep.
func fresh(c echo.Context, status int, body any) error {
	c.Response().Header().Set("Cache-Control", "no-store")
	return c.JSON(status, body)
}
