package main

import (
	"context"

	"quotary/shared/api"
	"quotary/shared/catalog"
)

// keyPlan returns the level of the calling key, and when the key expires.
func keyPlan(ctx context.Context, _ catalog.KeyPlanIn) (catalog.KeyPlan, error) {
	caller := api.Caller(ctx)
	plan := catalog.KeyPlan{VIPType: caller.Level}
	if caller.ExpiresAt > 0 {
		plan.EndTime = &caller.ExpiresAt
	}
	return plan, nil
}
