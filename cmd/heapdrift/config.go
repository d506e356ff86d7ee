package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"time"

	"github.com/caarlos0/env/v11"

	"heapdrift/internal/memory"
)

// config is what the environment sets. heapdrift help env prints the table.
type config struct {
	DatabaseURL  string `env:"HEAPDRIFT_DATABASE_URL" help:"PostgreSQL, postgres://user:password@host/db; up starts a private one when empty"`
	RedisURL     string `env:"HEAPDRIFT_REDIS_URL" help:"Redis, redis://host:6379/0; up uses one inside the process when empty"`
	BlobURL      string `env:"HEAPDRIFT_BLOB_URL" help:"evidence and artifacts, file:///dir or s3://bucket/prefix?endpoint=host:port; up uses the state directory when empty"`
	Listen       string `env:"HEAPDRIFT_LISTEN" envDefault:"127.0.0.1:8080" help:"address of the web server"`
	Metrics      string `env:"HEAPDRIFT_METRICS_LISTEN" help:"address on which a server or a worker answers /metrics, /healthz and /readyz to those who watch over it, as 127.0.0.1:9090; none when empty"`
	Hosts        string `env:"HEAPDRIFT_HOSTS" help:"names that the server is asked by, with commas between; a server on a loopback address answers for localhost alone when empty, others for any name"`
	Open         string `env:"HEAPDRIFT_OPEN" help:"1 lets whoever reaches the server do everything without an account, 0 nobody; when empty, up on a loopback address is open until the first account is made, other servers are not"`
	Issuer       string `env:"HEAPDRIFT_OIDC_ISSUER" help:"address of an OpenID Connect provider that people may log in by; with HEAPDRIFT_OIDC_CLIENT_ID and _SECRET. It must send them back to /login/issuer/return"`
	IssuerClient string `env:"HEAPDRIFT_OIDC_CLIENT_ID" help:"what the provider knows heapdrift as"`
	IssuerSecret string `env:"HEAPDRIFT_OIDC_CLIENT_SECRET" help:"the secret of that client; none for a public one"`
	IssuerName   string `env:"HEAPDRIFT_OIDC_NAME" envDefault:"company account" help:"what the page of log-ins calls the provider"`
	StateDir     string `env:"HEAPDRIFT_STATE_DIR" help:"where up keeps its database and files"`
	MaxUpload    int64  `env:"HEAPDRIFT_MAX_UPLOAD" envDefault:"68719476736" help:"largest evidence file in bytes"`
	MinFree      int64  `env:"HEAPDRIFT_MIN_FREE" envDefault:"1073741824" help:"bytes of the disk that uploads leave free, where blobs lie on a disk; 0 looks not"`
	TokenQuota   int64  `env:"HEAPDRIFT_TOKEN_QUOTA" help:"bytes that may come with one token in a day, in UTC; 0 for no limit"`
	KeepEvidence int    `env:"HEAPDRIFT_KEEP_EVIDENCE_DAYS" help:"after how many days uploaded files are deleted; reports and findings stay; 0 keeps them"`
	// These are about symbol paths; the path itself is in Windows' own variables.
	SymbolServers string        `env:"HEAPDRIFT_SYMBOL_SERVERS" help:"symbol servers that may be asked, as host or *.domain with commas between; none when empty; known ones may send to where they keep their files; only what is named here may be in a private network"`
	SymbolWait    time.Duration `env:"HEAPDRIFT_SYMBOL_WAIT" envDefault:"1m" help:"how long a run waits for one symbol server, all files together, where that is slow; the report says what is missing then"`
	SymbolMap     string        `env:"HEAPDRIFT_SYMBOL_MAP" help:"where Windows directories of symbol paths lie here, as C:\\Symbols=/mnt/symbols with semicolons between"`
	SymbolCache   string        `env:"HEAPDRIFT_SYMBOL_CACHE" help:"where files from symbol servers are kept; heapdrift/symbols in the user's cache folder when empty"`
	Concurrency   int           `env:"HEAPDRIFT_CONCURRENCY" envDefault:"2" help:"light jobs at once on one worker; beside them runs one that reads more than 256 MB. They share HEAPDRIFT_MEMORY"`
	// Memory is read before the configuration is: see command.within.
	Memory     memory.Size `env:"HEAPDRIFT_MEMORY" help:"most memory that a command, or all jobs of a worker together, take, as in 2G; a job that needs more ends with a sentence (default three quarters of the machine's, at most 4G)"`
	URL        string      `env:"HEAPDRIFT_URL" help:"server that push, leaks, builds and symbols add talk to; symbols add takes the one on HEAPDRIFT_LISTEN when empty"`
	Project    string      `env:"HEAPDRIFT_PROJECT" help:"project that push, leaks and builds are about; push takes what the CI system says when empty"`
	Token      string      `env:"HEAPDRIFT_TOKEN" help:"token that push, leaks, builds and symbols add send to the server"`
	TrustProxy bool        `env:"HEAPDRIFT_TRUST_PROXY" help:"take client addresses from X-Forwarded-For of a proxy in a private network"`
	LogFormat  string      `env:"HEAPDRIFT_LOG" envDefault:"text" help:"text or json, on the standard error"`
}

func loadConfig() (config, error) {
	var c config
	if err := env.Parse(&c); err != nil {
		return c, fmt.Errorf("environment: %w", err)
	}
	if c.KeepEvidence < 0 {
		return c, fmt.Errorf("environment: HEAPDRIFT_KEEP_EVIDENCE_DAYS is %d, and cannot be negative", c.KeepEvidence)
	}
	if c.MinFree < 0 || c.TokenQuota < 0 {
		return c, errors.New("environment: HEAPDRIFT_MIN_FREE and HEAPDRIFT_TOKEN_QUOTA cannot be negative")
	}
	if c.Open != "" && c.Open != "0" && c.Open != "1" {
		return c, fmt.Errorf("environment: HEAPDRIFT_OPEN is %q, and must be 1, 0 or empty", c.Open)
	}
	if c.Issuer != "" && c.IssuerClient == "" {
		return c, errors.New("environment: HEAPDRIFT_OIDC_ISSUER is set, and HEAPDRIFT_OIDC_CLIENT_ID is not")
	}
	if c.SymbolWait <= 0 {
		return c, fmt.Errorf("environment: HEAPDRIFT_SYMBOL_WAIT is %v, and must be more than nothing, as in 90s",
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

func (c config) logger(w io.Writer) *slog.Logger {
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, nil))
	}
	return slog.New(slog.NewTextHandler(w, nil))
}

// elsewhere are variables that other packages read.
var elsewhere = [][2]string{
	{"AWS_ACCESS_KEY_ID", "key to the bucket of HEAPDRIFT_BLOB_URL; with AWS_SECRET_ACCESS_KEY"},
	{"HEAPDRIFT_PG_BIN", "folder of the PostgreSQL binaries that up uses instead of searching"},
	{"HEAPDRIFT_PG_USER",
		"account that the private PostgreSQL runs as when up runs as root; postgres or nobody when empty"},
	{"HEAPDRIFT_CORPUS", "folder of the evidence that tests compare with"},
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
