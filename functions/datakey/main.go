package main

import (
	"context"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"quotary/shared/catalog"
	"quotary/shared/service"
)

func main() {
	service.Run(catalog.FunctionDataKey, func(_ context.Context, s *service.Service) error {
		m := &maker{
			kms: kms.NewFromConfig(s.AWS), ssm: ssm.NewFromConfig(s.AWS),
			key:       s.Env.String(catalog.EnvSecretsKey, "the KMS key that wraps data keys"),
			parameter: s.Env.String(catalog.EnvDataKeysParameter, "the SSM parameter that holds the wrapped data keys"),
			patience:  rightsWithin,
			log:       s.Logger,
		}
		if err := s.Env.Err(); err != nil {
			return err
		}
		lambda.Start(m.invoke)
		return nil
	})
}
