// The authorizer answers the gateway's question whether a request may pass.
package main

import (
	"context"
	"io"
	"log"

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
		gate, err := s.Gate(ctx, db, keyStore)
		if err != nil {
			return err
		}
		// The runtime prints every error of a handler. A refusal is one, and
		// has its own line in the log.
		log.SetOutput(io.Discard)
		lambda.Start(newAuthorizer(gate, s.Log))
		return nil
	})
}
