package livesnapshot

import (
	"context"
	"errors"
	"fmt"

	"heapdrift/ingest/minidump"
)

// mostRegions is how many regions are listed; a process of Windows has some thousands, one with page heap a million.
const mostRegions = 4 << 20

// listRegions asks for all regions of an address space, by address.
func listRegions(ctx context.Context, from space) ([]minidump.Region, error) {
	var list []minidump.Region
	for at := uint64(0); len(list) < mostRegions; {
		if len(list)%1024 == 0 && ctx.Err() != nil {
			return nil, fmt.Errorf("livesnapshot: %w", context.Cause(ctx))
		}
		r, err := from.Query(at)
		if errors.Is(err, errEnd) {
			return list, nil
		}
		if err != nil {
			return nil, fmt.Errorf("list the regions at %#x: %w", at, err)
		}
		end := r.Base + r.Size
		if r.Size == 0 || r.Base > at || end <= at { // an answer that leads nowhere; end is 0 of the last page of all
			return list, nil
		}
		r.Base, r.Size = at, end-at
		list, at = append(list, r), end
	}
	return list, nil
}
