package storetest

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"
)

// Intercept returns a client like db whose requests pass through around: it may
// count them, change them, refuse them, or lose their answers. in is the input of
// the operation, for example a *dynamodb.PutItemInput. send makes the request and
// returns its output, which around returns in turn.
func Intercept(db *dynamodb.Client, around func(in any, send func() (any, error)) (any, error)) *dynamodb.Client {
	return dynamodb.New(db.Options(), func(o *dynamodb.Options) {
		o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
			return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("storetest", func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (out middleware.InitializeOutput, metadata middleware.Metadata, err error) {
				out.Result, err = around(in.Parameters, func() (any, error) {
					var made middleware.InitializeOutput
					made, metadata, err = next.HandleInitialize(ctx, in)
					return made.Result, err
				})
				return out, metadata, err
			}), middleware.Before)
		})
	})
}
