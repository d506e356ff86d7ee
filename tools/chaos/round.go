package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"time"
)

// settle is how long jobs may take to end after the storm.
const settle = 60 * time.Second

// pause is how long the senders rest between two rows of the evidence.
const pause = 3 * time.Second

// round starts everything in dir, sends the evidence, with or without a storm, and returns the outcome of each run by
// its name.
func round(ctx context.Context, dir string, o options) (_ map[string]outcome, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	h, err := startHouse(ctx, dir, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.stop()) }()
	c := &client{servers: h.servers(), lenient: o.lenient || o.old != ""}
	if o.storm == 0 {
		if err := c.send(ctx, evidence(o.seed, o.runs), ""); err != nil {
			return nil, err
		}
		return c.outcomes(ctx)
	}
	storm, calm := context.WithTimeout(ctx, o.storm)
	defer calm()
	var all sync.WaitGroup
	var sent error
	all.Go(func() {
		for n := 0; storm.Err() == nil && sent == nil; n++ {
			sent = c.send(ctx, evidence(o.seed, o.runs), fmt.Sprintf("-%d", n))
			rest(storm, pause) // or what waits for the workers only grows
		}
	})
	h.storm(storm, rand.New(rand.NewPCG(o.seed, 1)))
	h.calmDown()
	all.Wait()
	if sent != nil {
		return nil, sent
	}
	if o.old != "" { // the upgrade ends: the old ones are replaced
		h.replaceOld(o.binary)
	}
	return c.outcomes(ctx)
}
