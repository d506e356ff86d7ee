package store

import "time"

// Traffic is what came with a token, or is reserved for what is to come, on a day in UTC. The zero one is none.
type Traffic struct {
	Token int64
	Day   time.Time
	Bytes int64
}
