package stacks

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"quotary/shared/catalog"
)

// feedAPI is one WebSocket API.
type feedAPI struct {
	name string // of the feed
	path string // in the catalog
	api  awsapigatewayv2.CfnApi
}

// connections are the resources of who sends to a connection, asks for it or
// closes it.
func (f *feedAPI) connections() []*string {
	var arns []*string
	for _, method := range []string{"POST", "GET", "DELETE"} {
		arns = append(arns, awscdk.Fn_Sub(
			jsii.String("arn:${AWS::Partition}:execute-api:${AWS::Region}:${AWS::AccountId}:${Id}/"+catalog.Stage+"/"+method+"/@connections/*"),
			&map[string]*string{"Id": f.api.Ref()}))
	}
	return arns
}

// url is where the API answers by itself. That way stays open beside a domain:
// the management API is behind it.
func (f *feedAPI) url(scheme string) *string {
	return awscdk.Fn_Sub(jsii.String(scheme+"://${Id}.execute-api.${AWS::Region}.${AWS::URLSuffix}/"+catalog.Stage), &map[string]*string{"Id": f.api.Ref()})
}

func (b *builder) feeds(app awscdk.App) awscdk.Stack {
	stack := b.stack(app, "feeds", "WebSocket feeds")
	for _, e := range catalog.All() {
		name := e.Feed()
		if name == "" {
			continue
		}
		api := awsapigatewayv2.NewCfnApi(stack, jsii.String(title(name)+"Feed"), &awsapigatewayv2.CfnApiProps{
			Name:                     jsii.String(b.name("feed-" + name)),
			Description:              jsii.String(e.Path),
			ProtocolType:             jsii.String("WEBSOCKET"),
			RouteSelectionExpression: jsii.String("$request.body.method"),
		})
		b.feedAPIs = append(b.feedAPIs, feedAPI{name, e.Path, api})
	}
	function := b.function(stack, catalog.FunctionSocket)
	if function == nil {
		return stack
	}
	logs := b.logs(stack, "FeedLogs", "/aws/apigateway/"+b.name("feeds"))
	all := domain{name: b.FeedsDomain, certificate: b.FeedsCertificate}
	for _, feed := range b.feedAPIs {
		stage := b.feed(stack, feed, function, logs)
		all.mappings = append(all.mappings, mapping{catalog.Stage + feed.path, feed.api.Ref(), stage.StageName()})
		address := feed.url("wss")
		if b.FeedsDomain != "" {
			address = jsii.String("wss://" + b.FeedsDomain + "/" + catalog.Stage + feed.path)
		}
		awscdk.NewCfnOutput(stack, jsii.String(title(feed.name)+"URL"), &awscdk.CfnOutputProps{Value: address, Description: jsii.String(feed.path)})
	}
	if b.FeedsDomain != "" {
		b.domain(stack, all)
	}
	return stack
}

// feed declares what hangs on one WebSocket API: who may connect, where
// messages go, and its only stage.
func (b *builder) feed(stack awscdk.Stack, feed feedAPI, function awslambda.Function, logs awslogs.LogGroup) awsapigatewayv2.CfnStage {
	scope := constructs.NewConstruct(stack, jsii.String(title(feed.name)))
	authorizer := b.feedAuthorizer(scope, feed)
	integration := awsapigatewayv2.NewCfnIntegration(scope, jsii.String("Integration"), &awsapigatewayv2.CfnIntegrationProps{
		ApiId: feed.api.Ref(), IntegrationType: jsii.String("AWS_PROXY"), IntegrationUri: invocationOf(function.FunctionArn()),
	})
	target := awscdk.Fn_Join(jsii.String("/"), &[]*string{jsii.String("integrations"), integration.Ref()})
	stage := awsapigatewayv2.NewCfnStage(scope, jsii.String("Stage"), &awsapigatewayv2.CfnStageProps{
		ApiId: feed.api.Ref(), StageName: jsii.String(catalog.Stage), AutoDeploy: true,
		StageVariables: map[string]any{catalog.VariableFeed: feed.name, catalog.VariableManagement: feed.url("https")},
		DefaultRouteSettings: &awsapigatewayv2.CfnStage_RouteSettingsProperty{
			ThrottlingRateLimit: jsii.Number(float64(b.ThrottleRate)), ThrottlingBurstLimit: jsii.Number(float64(b.ThrottleBurst)),
			LoggingLevel: jsii.String("OFF"), DataTraceEnabled: false,
		},
		AccessLogSettings: &awsapigatewayv2.CfnStage_AccessLogSettingsProperty{
			DestinationArn: logs.LogGroupArn(), Format: jsii.String(accessLog(feedLog)),
		},
	})
	for id, key := range map[string]string{"Connect": "$connect", "Disconnect": "$disconnect", "Message": "$default"} {
		props := &awsapigatewayv2.CfnRouteProps{ApiId: feed.api.Ref(), RouteKey: jsii.String(key), Target: target, AuthorizationType: jsii.String("NONE")}
		if key == "$connect" {
			props.AuthorizationType, props.AuthorizerId = jsii.String("CUSTOM"), authorizer.Ref()
		}
		answers := key != "$disconnect" // what the function returns is sent, of a refused handshake too
		if answers {
			props.RouteResponseSelectionExpression = jsii.String("$default")
		}
		route := awsapigatewayv2.NewCfnRoute(scope, jsii.String(id), props)
		if answers {
			awsapigatewayv2.NewCfnRouteResponse(scope, jsii.String(id+"Answer"), &awsapigatewayv2.CfnRouteResponseProps{
				ApiId: feed.api.Ref(), RouteId: route.Ref(), RouteResponseKey: jsii.String("$default"),
			})
		}
		if key != "$connect" {
			accept(route, "AwsSolutions-APIG4", "API Gateway authorizes a WebSocket once, when it connects: other routes cannot have an authorizer.")
		}
	}
	permit(scope, "Invoke", function.FunctionArn(), feed, "/"+catalog.Stage+"/*")
	return stage
}

// feedAuthorizer declares the same authorizer as that of the REST API. An
// attempt to connect without all four parameters does not even wake it.
func (b *builder) feedAuthorizer(scope constructs.Construct, feed feedAPI) awsapigatewayv2.CfnAuthorizer {
	function := sub("arn:${AWS::Partition}:lambda:${AWS::Region}:${AWS::AccountId}:function:" + b.name(catalog.FunctionAuthorizer))
	var source []*string
	for _, name := range catalog.SignatureParameters {
		source = append(source, jsii.String("route.request.querystring."+name))
	}
	permit(scope, "Authorize", function, feed, "/authorizers/*")
	return awsapigatewayv2.NewCfnAuthorizer(scope, jsii.String("Authorizer"), &awsapigatewayv2.CfnAuthorizerProps{
		ApiId: feed.api.Ref(), Name: jsii.String("signature"), AuthorizerType: jsii.String("REQUEST"),
		AuthorizerUri: invocationOf(function), IdentitySource: &source,
	})
}

func permit(scope constructs.Construct, id string, function *string, feed feedAPI, caller string) {
	awslambda.NewCfnPermission(scope, jsii.String(id), &awslambda.CfnPermissionProps{
		Action: jsii.String("lambda:InvokeFunction"), FunctionName: function, Principal: jsii.String("apigateway.amazonaws.com"),
		SourceArn: awscdk.Fn_Sub(jsii.String("arn:${AWS::Partition}:execute-api:${AWS::Region}:${AWS::AccountId}:${Id}"+caller),
			&map[string]*string{"Id": feed.api.Ref()}),
	})
}

func invocationOf(function *string) *string {
	return awscdk.Fn_Sub(jsii.String("arn:${AWS::Partition}:apigateway:${AWS::Region}:lambda:path/2015-03-31/functions/${Function}/invocations"),
		&map[string]*string{"Function": function})
}
