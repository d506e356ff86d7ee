package embedded

import (
	"fmt"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// Redis is a Redis server inside this process, on the loopback interface. It keeps nothing: what must outlast the
// process has to be stored elsewhere.
type Redis struct {
	server *miniredis.Miniredis
	addr   string
	stop   func()
}

// StartRedis starts a server on a free port.
func StartRedis() (*Redis, error) {
	r := &Redis{server: miniredis.NewMiniRedis()}
	if err := r.server.Start(); err != nil {
		return nil, fmt.Errorf("embedded redis: %w", err)
	}
	r.addr = r.server.Addr()
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		r.expire(done)
	}()
	r.stop = sync.OnceFunc(func() {
		close(done)
		<-ended
		r.server.Close()
	})
	return r, nil
}

// Addr is the server's address, host:port.
func (r *Redis) Addr() string { return r.addr }

// Stop ends the server. Stopping twice is fine.
func (r *Redis) Stop() { r.stop() }

// expire makes time pass for keys with a time to live: miniredis, made for tests, lets it stand still.
func (r *Redis) expire(done <-chan struct{}) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for last := time.Now(); ; {
		select {
		case <-done:
			return
		case <-tick.C: // some are left out when the machine is busy
			now := time.Now()
			r.server.FastForward(now.Sub(last))
			last = now
		}
	}
}
