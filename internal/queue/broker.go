package queue

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

// CheckBroker returns an error unless the broker at a Redis URL answers.
func CheckBroker(ctx context.Context, url string) error {
	broker, err := asynq.ParseRedisURI(url)
	if err != nil {
		return fmt.Errorf("queue: Redis URL: %w", err)
	}
	client, ok := broker.MakeRedisClient().(redis.UniversalClient)
	if !ok {
		return errNoRedis
	}
	defer func() { _ = client.Close() }()
	if err := client.Ping(ctx).Err(); err != nil {
		return fmt.Errorf("queue: Redis: %w", err)
	}
	return nil
}

var errNoRedis = errors.New("queue: the broker's client is not one of Redis")

// notYet are how the answers of a Redis begin that is there and will be ready (Redis, "error prefixes").
var notYet = []string{"LOADING", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "BUSY"}

// IsBrokerAway reports whether an error says that the broker does not answer now: it may later.
func IsBrokerAway(err error) bool {
	var network net.Error
	if errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	var answer redis.Error
	if errors.As(err, &answer) {
		for _, prefix := range notYet {
			if strings.HasPrefix(answer.Error(), prefix) {
				return true
			}
		}
	}
	return false
}
