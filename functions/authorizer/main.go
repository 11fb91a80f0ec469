// The authorizer answers the gateway's question whether a request may pass.
package main

import (
	"context"

	"github.com/aws/aws-lambda-go/lambda"

	"quotary/shared/catalog"
	"quotary/shared/service"
)

func main() {
	service.Run(catalog.FunctionAuthorizer, func(ctx context.Context, s *service.Service) error {
		db := s.DynamoDB()
		keyStore, err := s.Keys(ctx, db)
		if err != nil {
			return err
		}
		gate, err := s.Gate(db, keyStore)
		if err != nil {
			return err
		}
		a := newAuthorizer(gate, s.Logger)
		a.metrics = s.Metrics
		lambda.Start(a.authorize)
		return nil
	})
}
