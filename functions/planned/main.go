// The planned function answers for every family that has no handler yet: 501,
// after the same checks as any other endpoint and without charge.
package main

import (
	"context"

	"quotary/shared/catalog"
	"quotary/shared/service"
)

func main() {
	service.Run(catalog.FunctionPlanned, func(ctx context.Context, s *service.Service) error {
		db, err := s.DynamoDB(ctx)
		if err != nil {
			return err
		}
		family, _, err := s.Family(ctx, db)
		if err != nil {
			return err
		}
		family.Start()
		return nil
	})
}
