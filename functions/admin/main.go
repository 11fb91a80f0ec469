package main

import (
	"context"

	"github.com/aws/aws-lambda-go/lambda"

	"quotary/shared/catalog"
	"quotary/shared/service"
)

func main() {
	service.Run(catalog.FunctionAdmin, func(ctx context.Context, s *service.Service) error {
		db := s.DynamoDB()
		keyStore, err := s.Keys(ctx, db)
		if err != nil {
			return err
		}
		o := &operator{keys: keyStore, usage: s.Counters(db), now: s.Clock, log: s.Logger}
		lambda.Start(o.invoke)
		return nil
	})
}
