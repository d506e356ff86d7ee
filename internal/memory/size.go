package memory

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Size is a number of bytes.
type Size int64

// units are the letters behind a size, each 1,024 times the one before.
const units = "KMGT"

// least is the smallest budget that is taken: the program itself needs some.
const least = 16 << 20

// UnmarshalText reads a size such as 512M, 4GiB, 1.5g or 1073741824.
func (s *Size) UnmarshalText(text []byte) error {
	upper := strings.ToUpper(strings.TrimSpace(string(text)))
	number := strings.TrimSuffix(strings.TrimSuffix(upper, "B"), "I")
	scale := 1.0
	if i := strings.IndexByte(units, append([]byte(number), ' ')[max(0, len(number)-1)]); i >= 0 && number != "" {
		number, scale = number[:len(number)-1], math.Pow(1024, float64(i+1))
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !(v*scale >= least && v*scale < math.MaxInt64) {
		return fmt.Errorf("memory: %q is no size of at least 16M; write it as 512M or 4G", text)
	}
	*s = Size(v * scale)
	return nil
}

// Set is UnmarshalText, for flags.
func (s *Size) Set(text string) error { return s.UnmarshalText([]byte(text)) }

// String prints the size as UnmarshalText reads it.
func (s Size) String() string {
	v, unit := float64(s), ""
	for i := range len(units) {
		if v < 1024 {
			break
		}
		v, unit = v/1024, units[i:i+1]
	}
	return strconv.FormatFloat(v, 'f', -1, 64) + unit
}

// most is how much the default is at most.
const most = 4 << 30

// Default is three quarters of the memory that the system gives this program at most (of the machine, its control group
// or its job object), and no more than 4 GiB.
func Default() Size {
	return Size(max(least, min(most, available()/4*3)))
}
