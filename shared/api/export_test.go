package api

import (
	"context"

	"quotary/shared/catalog"
)

// HandleAny serves an endpoint with h, which is given a pointer to the request
// struct.
func HandleAny(f *Family, e *catalog.Endpoint, h func(ctx context.Context, in any) (any, error)) {
	f.handle(e, h)
}
