package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/apigatewaymanagementapi"
	"github.com/aws/aws-sdk-go-v2/service/apigatewaymanagementapi/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"quotary/shared/catalog"
)

// management is the part of the gateway's management API that the function
// uses.
type management interface {
	DeleteConnection(context.Context, *apigatewaymanagementapi.DeleteConnectionInput, ...func(*apigatewaymanagementapi.Options)) (*apigatewaymanagementapi.DeleteConnectionOutput, error)
}

// newManagement returns a client that is set up like the one of the tables;
// each call names its endpoint.
func newManagement(like dynamodb.Options) *apigatewaymanagementapi.Client {
	return apigatewaymanagementapi.New(apigatewaymanagementapi.Options{
		Region:      like.Region,
		Credentials: like.Credentials,
		HTTPClient:  like.HTTPClient,
		Retryer:     like.Retryer,
	})
}

// endpoint is the URL of the management API. One whose stage does not name it is
// reached under the name that its clients use, which is right on AWS as long as
// that is the API's own and not a custom domain.
func endpoint(event *events.APIGatewayWebsocketProxyRequest) string {
	if url := event.StageVariables[catalog.VariableManagement]; url != "" {
		return url
	}
	return "https://" + event.RequestContext.DomainName + "/" + event.RequestContext.Stage
}

// closeTimeout bounds one call of the management API, its repetitions included.
const closeTimeout = 5 * time.Second

// hangUp closes the client's connection. One that is closed already is no error.
func (s *socket) hangUp(ctx context.Context, event *events.APIGatewayWebsocketProxyRequest) error {
	ctx, done := context.WithTimeout(ctx, closeTimeout)
	defer done()
	_, err := s.management.DeleteConnection(ctx,
		&apigatewaymanagementapi.DeleteConnectionInput{ConnectionId: &event.RequestContext.ConnectionID},
		func(o *apigatewaymanagementapi.Options) { o.BaseEndpoint = aws.String(endpoint(event)) })
	var gone *types.GoneException
	if err != nil && !errors.As(err, &gone) {
		return fmt.Errorf("close a connection: %w", err)
	}
	return nil
}
