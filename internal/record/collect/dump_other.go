//go:build !windows

package collect

import (
	"context"

	"heapdrift/internal/record/target"
)

func takeDump(context.Context, target.Info, string, *float64) (Cost, error) {
	return Cost{}, target.ErrUnsupported
}
