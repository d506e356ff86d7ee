package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strconv"
	"time"

	"heapdrift/internal/memory"
)

// config is what the environment sets. heapdrift help env prints the table.
type config struct {
	DatabaseURL  string `env:"HEAPDRIFT_DATABASE_URL" help:"PostgreSQL, postgres://user:password@host/db; if empty, up starts a private one"`
	RedisURL     string `env:"HEAPDRIFT_REDIS_URL" help:"Redis, redis://host:6379/0; if empty, up uses one inside the process"`
	BlobURL      string `env:"HEAPDRIFT_BLOB_URL" help:"evidence and artifacts, file:///dir or s3://bucket/prefix?endpoint=host:port; if empty, up uses the state directory"`
	Listen       string `env:"HEAPDRIFT_LISTEN" envDefault:"127.0.0.1:8080" help:"address of the web server"`
	Metrics      string `env:"HEAPDRIFT_METRICS_LISTEN" help:"address of /metrics, /healthz and /readyz of a server or worker, for example 127.0.0.1:9090; if empty, none"`
	Hosts        string `env:"HEAPDRIFT_HOSTS" help:"host names of the server, separated by commas. If empty: localhost on a loopback address, else any name"`
	Open         string `env:"HEAPDRIFT_OPEN" help:"1: everyone who can reach the server has all rights; 0: accounts only. If empty: up on a loopback address is open until the first account exists, other servers need accounts"`
	Issuer       string `env:"HEAPDRIFT_OIDC_ISSUER" help:"address of an OpenID Connect provider for log-ins, with HEAPDRIFT_OIDC_CLIENT_ID and _SECRET. Its redirect address is /login/issuer/return"`
	IssuerClient string `env:"HEAPDRIFT_OIDC_CLIENT_ID" help:"client ID of heapdrift at the provider"`
	IssuerSecret string `env:"HEAPDRIFT_OIDC_CLIENT_SECRET" help:"client secret; empty for a public client"`
	IssuerName   string `env:"HEAPDRIFT_OIDC_NAME" envDefault:"company account" help:"name of the provider on the log-in page"`
	TracesURL    string `env:"HEAPDRIFT_TRACES_URL" help:"collector of OpenTelemetry for traces from the upload to the report, by OTLP over HTTP: http://host:4318/v1/traces; if empty, nothing is traced"`
	StateDir     string `env:"HEAPDRIFT_STATE_DIR" help:"folder of the database and files of heapdrift up"`
	Downloads    string `env:"HEAPDRIFT_DOWNLOADS" help:"folder of the programs that the server offers at /download, as make build writes it to dist/downloads (default: downloads beside the server's program)"`
	MaxUpload    int64  `env:"HEAPDRIFT_MAX_UPLOAD" envDefault:"68719476736" help:"largest evidence file in bytes"`
	MinFree      int64  `env:"HEAPDRIFT_MIN_FREE" envDefault:"1073741824" help:"bytes that uploads leave free on the disk of the blobs; 0 for no limit"`
	TokenQuota   int64  `env:"HEAPDRIFT_TOKEN_QUOTA" help:"bytes that one token may upload in a day (UTC); 0 for no limit"`
	KeepEvidence int64  `env:"HEAPDRIFT_KEEP_EVIDENCE_DAYS" help:"days after which uploaded files are deleted, but not reports and leaks; 0 keeps the files. A project's settings come first, also for the next three"`
	// The next settings are how long other parts are kept.
	KeepEvidenceBytes int64 `env:"HEAPDRIFT_KEEP_EVIDENCE_BYTES" help:"bytes of uploaded files that a project keeps, the newest; 0 for no limit"`
	KeepRuns          int64 `env:"HEAPDRIFT_KEEP_RUN_DAYS" help:"days after the last upload of a run when it is deleted with its report; 0 keeps the runs. Runs of pinned builds and of the baseline stay"`
	KeepRunBytes      int64 `env:"HEAPDRIFT_KEEP_RUN_BYTES" help:"bytes of captures and allocation tables that a project keeps; the oldest runs go first. 0 for no limit"`
	KeepSymbols       int64 `env:"HEAPDRIFT_KEEP_SYMBOL_DAYS" help:"days after which PDBs and images are deleted; 0 keeps them. All projects share them"`
	KeepSymbolBytes   int64 `env:"HEAPDRIFT_KEEP_SYMBOL_BYTES" help:"bytes of PDBs and images that the server keeps, the newest; 0 for no limit"`
	// These are about symbol paths; the path itself is in Windows' own variables.
	SymbolServers string        `env:"HEAPDRIFT_SYMBOL_SERVERS" help:"allowed symbol servers: host or *.domain, separated by commas; if empty, none. Known servers may redirect to their file storage. Only servers listed here may be in a private network"`
	SymbolWait    time.Duration `env:"HEAPDRIFT_SYMBOL_WAIT" envDefault:"1m" help:"how long a run waits for a slow symbol server, all files together. The report lists missing symbols"`
	SymbolMap     string        `env:"HEAPDRIFT_SYMBOL_MAP" help:"local directories for Windows directories of symbol paths: C:\\Symbols=/mnt/symbols, separated by semicolons"`
	SymbolCache   string        `env:"HEAPDRIFT_SYMBOL_CACHE" help:"folder for files from symbol servers (default: heapdrift/symbols in the user's cache folder)"`
	Concurrency   int           `env:"HEAPDRIFT_CONCURRENCY" envDefault:"2" help:"light jobs at once on one worker, beside one job that reads more than 256 MB. They share HEAPDRIFT_MEMORY"`
	// Memory is read before the configuration is: see command.within.
	Memory     memory.Size `env:"HEAPDRIFT_MEMORY" help:"memory limit of a command, or of all jobs of a worker together, for example 2G. Jobs beyond it fail with an error (default 3/4 of the machine's memory, at most 4G)"`
	URL        string      `env:"HEAPDRIFT_URL" help:"server for push, leaks, builds and symbols add; if empty, symbols add uses the server on HEAPDRIFT_LISTEN"`
	Project    string      `env:"HEAPDRIFT_PROJECT" help:"project for push, leaks and builds; if empty, push uses the CI system's"`
	Token      string      `env:"HEAPDRIFT_TOKEN" help:"token for push, leaks, builds and symbols add"`
	TrustProxy string      `env:"HEAPDRIFT_TRUST_PROXY" help:"proxies in front of the server, whose X-Forwarded-For names the client: their networks, for example 10.0.0.0/30,fd00::1, or how many stand in a row. A count needs a server that only the proxies can reach"`
	LogFormat  string      `env:"HEAPDRIFT_LOG" envDefault:"text" help:"text or json, on the standard error"`
}

func loadConfig() (config, error) {
	var c config
	if err := c.read(os.Getenv); err != nil {
		return c, fmt.Errorf("environment: %w", err)
	}
	if min(c.KeepEvidence, c.KeepEvidenceBytes, c.KeepRuns, c.KeepRunBytes, c.KeepSymbols, c.KeepSymbolBytes) < 0 {
		return c, errors.New("environment: the variables HEAPDRIFT_KEEP_… cannot be negative; 0 keeps for ever")
	}
	if c.MinFree < 0 || c.TokenQuota < 0 {
		return c, errors.New("environment: HEAPDRIFT_MIN_FREE and HEAPDRIFT_TOKEN_QUOTA cannot be negative")
	}
	if c.Open != "" && c.Open != "0" && c.Open != "1" {
		return c, fmt.Errorf("environment: HEAPDRIFT_OPEN is %q, and must be 1, 0 or empty", c.Open)
	}
	if c.Issuer != "" && c.IssuerClient == "" {
		return c, errors.New("environment: HEAPDRIFT_OIDC_ISSUER is set without HEAPDRIFT_OIDC_CLIENT_ID")
	}
	if c.SymbolWait <= 0 {
		return c, fmt.Errorf("environment: HEAPDRIFT_SYMBOL_WAIT is %v, and must be positive, for example 90s",
			c.SymbolWait)
	}
	return c, nil
}

// need checks that the variables which a part requires are set.
func (c config) need() error {
	for _, v := range []struct{ name, value string }{
		{"HEAPDRIFT_DATABASE_URL", c.DatabaseURL}, {"HEAPDRIFT_REDIS_URL", c.RedisURL}, {"HEAPDRIFT_BLOB_URL", c.BlobURL},
	} {
		if v.value == "" {
			return &usageError{v.name + " is not set; heapdrift help env explains it, heapdrift up needs none"}
		}
	}
	return nil
}

// read sets each field from its variable, and else to its default.
func (c *config) read(getenv func(string) string) error {
	t, v := reflect.TypeFor[config](), reflect.ValueOf(c).Elem()
	for i := range t.NumField() {
		tag := t.Field(i).Tag
		text := cmp.Or(getenv(tag.Get("env")), tag.Get("envDefault"))
		if text == "" {
			continue
		}
		var err error
		switch field := v.Field(i).Addr().Interface().(type) {
		case *string:
			*field = text
		case *int:
			*field, err = strconv.Atoi(text)
		case *int64:
			*field, err = strconv.ParseInt(text, 10, 64)
		case *time.Duration:
			*field, err = time.ParseDuration(text)
		case *memory.Size:
			err = field.Set(text)
		default:
			err = fmt.Errorf("a field of type %T cannot be read", field)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", tag.Get("env"), err)
		}
	}
	return nil
}

// elsewhere are variables that other packages read.
var elsewhere = [][2]string{
	{"AWS_ACCESS_KEY_ID", "key to the bucket of HEAPDRIFT_BLOB_URL; with AWS_SECRET_ACCESS_KEY"},
	{"HEAPDRIFT_PG_BIN", "folder of the PostgreSQL binaries for heapdrift up"},
	{"HEAPDRIFT_PG_USER",
		"account of the private PostgreSQL when heapdrift up runs as root; if empty, postgres or another unprivileged account"},
	{"HEAPDRIFT_CORPUS", "folder of the evidence for tests"},
}

// printEnv prints the variables from the tags of config, so that the table is never out of date, and those of others.
func printEnv(w io.Writer) error {
	var lines [][2]string
	t := reflect.TypeFor[config]()
	for i := range t.NumField() {
		tag := t.Field(i).Tag
		text := tag.Get("help")
		if d := tag.Get("envDefault"); d != "" {
			text += " (default " + d + ")"
		}
		lines = append(lines, [2]string{tag.Get("env"), text})
	}
	for _, line := range append(lines, elsewhere...) {
		if _, err := fmt.Fprintf(w, "%-24s %s\n", line[0], line[1]); err != nil {
			return fmt.Errorf("print: %w", err)
		}
	}
	return nil
}
