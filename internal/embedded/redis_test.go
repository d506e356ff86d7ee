package embedded

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"heapdrift/internal/await"
)

// Keys expire, which they never do in miniredis alone.
func TestRedisExpires(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	t.Parallel()
	r, err := StartRedis()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	client := redis.NewClient(&redis.Options{Addr: r.Addr()})
	t.Cleanup(func() { _ = client.Close() })
	for key, ttl := range map[string]time.Duration{"short": 2 * time.Second, "long": time.Minute, "for ever": 0} {
		if err := client.Set(t.Context(), key, "v", ttl).Err(); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	await.Until(t, "the end of a key", func() bool { return client.Exists(t.Context(), "short").Val() == 0 })
	if took := time.Since(began); took < 500*time.Millisecond || took > 30*time.Second {
		t.Errorf("2 s took %v", took)
	}
	if n := client.Exists(t.Context(), "long", "for ever").Val(); n != 2 {
		t.Errorf("%d of 2 other keys are left", n)
	}
	if ttl := client.TTL(t.Context(), "long").Val(); ttl < 50*time.Second || ttl >= time.Minute {
		t.Errorf("the long one has %v", ttl)
	}
}

func TestRedisStops(t *testing.T) {
	t.Parallel()
	r, err := StartRedis()
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(&redis.Options{Addr: r.Addr(), MaxRetries: -1})
	t.Cleanup(func() { _ = client.Close() })
	if err := client.Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	addr := r.Addr()
	r.Stop()
	r.Stop()
	if err := client.Ping(t.Context()).Err(); err == nil {
		t.Error("it answers after Stop")
	}
	if r.Addr() != addr {
		t.Errorf("its address was %s and is %s", addr, r.Addr())
	}
}
