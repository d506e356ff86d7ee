//go:build !client

package main

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"time"

	"heapdrift/internal/queue"
	"heapdrift/internal/store"
)

// A service is what a server or worker needs before it can start.
type service struct {
	name    string
	connect func(ctx context.Context) error
	away    func(error) bool // an error that may pass by itself
}

// How a service that does not answer is waited for.
const (
	connectTimeout = 5 * time.Second // of one attempt
	connectPause   = time.Second     // between two
	sayEvery       = 5 * time.Second
)

// neededServices are PostgreSQL, and for workers Redis: a server without it still shows pages.
func neededServices(c config, r role) []service {
	services := []service{{"PostgreSQL", func(ctx context.Context) error {
		s, err := store.Open(ctx, c.DatabaseURL)
		if err == nil {
			s.Close()
		}
		return err
	}, mayCome}}
	if r.work {
		services = append(services, service{"Redis",
			func(ctx context.Context) error { return queue.CheckBroker(ctx, c.RedisURL) }, queue.IsBrokerAway})
	}
	return services
}

// mayCome reports whether the database may answer later. A certificate that is not trusted stays so.
func mayCome(err error) bool {
	var certificate *tls.CertificateVerificationError
	return store.IsUnavailable(err) && !errors.As(err, &certificate)
}

// waitFor waits until the services answer, and says every few seconds for which it waits: containers and machines
// start in any order. An error that waiting does not mend ends it.
func waitFor(ctx context.Context, services []service, log *slog.Logger) error {
	for _, s := range services {
		if err := s.wait(ctx, log); err != nil {
			return err
		}
	}
	return nil
}

func (s service) wait(ctx context.Context, log *slog.Logger) error {
	var said time.Time
	for {
		attempt, cancel := context.WithTimeout(ctx, connectTimeout)
		err := s.connect(attempt)
		cancel()
		switch {
		case err == nil && !said.IsZero():
			log.Info("the service answers", "service", s.name)
			return nil
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err() //nolint:wrapcheck // the command was told to stop
		case !s.away(err):
			return err
		case time.Since(said) >= sayEvery:
			said = time.Now()
			log.Warn("waiting for a service", "service", s.name, "error", err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err() //nolint:wrapcheck // the command was told to stop
		case <-time.After(connectPause):
		}
	}
}

// stopped is the error of what ended; nil where the command was told to stop.
func stopped(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return nil
}

func (c config) logger(w io.Writer) *slog.Logger {
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, nil))
	}
	return slog.New(slog.NewTextHandler(w, nil))
}
