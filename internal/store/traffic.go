package store

import "time"

// Traffic is how many bytes were uploaded with a token, or are reserved, on a day in UTC. The zero Traffic is none.
type Traffic struct {
	TokenID int64     // id
	Day     time.Time // midnight in UTC
	Bytes   int64
	// Reservation is the number of the reservation; 0 for bytes that have come.
	Reservation int64
}
