package embedded

import (
	"fmt"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// Redis is a Redis inside this process. What it holds is gone with the process.
type Redis struct {
	server *miniredis.Miniredis
	stop   chan struct{}
	once   sync.Once
	ticker sync.WaitGroup
}

// StartRedis starts a Redis on a free port of the loopback address.
func StartRedis() (*Redis, error) {
	server, err := miniredis.Run()
	if err != nil {
		return nil, fmt.Errorf("embedded: Redis: %w", err)
	}
	r := &Redis{server: server, stop: make(chan struct{})}
	// Its clock stands still for expiry: without this no key would ever expire.
	r.ticker.Go(func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-r.stop:
				return
			case <-tick.C:
				server.FastForward(time.Second)
			}
		}
	})
	return r, nil
}

// Addr is its host:port.
func (r *Redis) Addr() string { return r.server.Addr() }

// Stop ends it. It may be called more than once.
func (r *Redis) Stop() {
	r.once.Do(func() {
		close(r.stop)
		r.ticker.Wait()
		r.server.Close()
	})
}
