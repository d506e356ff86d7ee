//go:build !client

package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"
)

// health asks the local server, or worker, whether it is alive.
func health(ctx context.Context, _ []string, _ streams) (int, error) {
	c, err := loadConfig()
	if err != nil {
		return exitUsage, err
	}
	address := c.Listen
	if c.Metrics != "" { // a worker has no other
		address = c.Metrics
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return exitUsage, &usageError{"HEAPDRIFT_LISTEN or HEAPDRIFT_METRICS_LISTEN: " + err.Error()}
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+
		"/healthz", http.NoBody)
	if err != nil {
		return exitInput, fmt.Errorf("health: %w", err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return exitInput, fmt.Errorf("health: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return exitInput, fmt.Errorf("health: the server answers %s", response.Status)
	}
	return exitOK, nil
}
