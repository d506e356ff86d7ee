package queue_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"heapdrift/internal/embedded"
	"heapdrift/internal/queue"
)

// A redisAnswer is an error that Redis has answered.
type redisAnswer string

func (a redisAnswer) Error() string { return string(a) }
func (redisAnswer) RedisError()     {}

// A Redis that cannot be reached, or that reads its data still, will answer later. One that refuses the password will
// not.
func TestIsAway(t *testing.T) {
	for err, want := range map[error]bool{
		&net.OpError{Op: "dial", Err: errors.New("connection refused")}: true,
		&net.DNSError{Err: "no such host"}:                              true,
		io.EOF:                                                          true,
		context.DeadlineExceeded:                                        true,
		redisAnswer("LOADING Redis is loading the dataset in memory"): true,
		redisAnswer("CLUSTERDOWN The cluster is down"):                true,
		redisAnswer("WRONGPASS invalid username-password pair"):       false,
		redisAnswer("NOAUTH Authentication required."):                false,
		errors.New("queue: Redis URL: LOADING"):                       false,
	} {
		if got := queue.IsBrokerAway(fmt.Errorf("queue: Redis: %w", err)); got != want {
			t.Errorf("%v: %t", err, got)
		}
	}
}

func TestCheckBroker(t *testing.T) {
	redis, err := embedded.StartRedis()
	if err != nil {
		t.Fatal(err)
	}
	defer redis.Stop()
	if err := queue.CheckBroker(t.Context(), "redis://"+redis.Addr()); err != nil {
		t.Error(err)
	}
	if err := queue.CheckBroker(t.Context(), "http://"+redis.Addr()); err == nil || queue.IsBrokerAway(err) {
		t.Errorf("an address that is none of Redis: %v", err)
	}
	redis.Stop()
	if err := queue.CheckBroker(t.Context(), "redis://"+redis.Addr()); !queue.IsBrokerAway(err) {
		t.Errorf("a Redis that is gone: %v", err)
	}
}
