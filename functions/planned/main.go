// The planned function answers for every family that has no handler yet: 501,
// after the same checks as any other endpoint and without charge.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"quotary/shared/catalog"
	"quotary/shared/service"
)

func main() {
	lambda.Start(service.Family(catalog.FunctionPlanned, func(*service.Opened) error { return nil }))
}
