package stacks

import (
	"encoding/json"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awswafv2"
	"github.com/aws/jsii-runtime-go"

	"quotary/shared/catalog"
)

// restAPI is the logical id of the REST API.
const restAPI = "Api"

func (b *builder) api(app awscdk.App) awscdk.Stack {
	stack := b.stack(app, "api", "REST API, its functions and the authorizer")
	callers := map[catalog.Invoker]string{catalog.Gateway: "/" + catalog.Stage + "/*/*", catalog.Authorizer: "/authorizers/*", catalog.Operator: ""}
	for _, name := range catalog.AllFunctions() {
		p := b.declaration(name)
		caller, here := callers[p.InvokedBy]
		if !here {
			continue
		}
		function := b.function(stack, p.Name)
		if function == nil || caller == "" { // invoked through IAM alone
			continue
		}
		awslambda.NewCfnPermission(stack, jsii.String(title(p.Name)+"Permission"), &awslambda.CfnPermissionProps{
			Action:       jsii.String("lambda:InvokeFunction"),
			FunctionName: function.FunctionArn(),
			Principal:    jsii.String("apigateway.amazonaws.com"),
			SourceArn:    sub("arn:${AWS::Partition}:execute-api:${AWS::Region}:${AWS::AccountId}:${" + restAPI + "}" + caller),
		})
	}
	api := b.rest(stack)
	if b.WAFRate > 0 {
		b.firewall(stack, api)
	}
	if b.APIDomain != "" {
		b.domain(stack, domain{
			name: b.APIDomain, certificate: b.APICertificate,
			mappings: []mapping{{key: catalog.Stage, api: api.RestApiId(), stage: api.DeploymentStage().StageName()}},
		})
	}
	base := sub("https://${" + restAPI + "}.execute-api.${AWS::Region}.${AWS::URLSuffix}/" + catalog.Stage)
	if b.APIDomain != "" {
		base = jsii.String("https://" + b.APIDomain + "/" + catalog.Stage)
	}
	awscdk.NewCfnOutput(stack, jsii.String("BaseURL"), &awscdk.CfnOutputProps{Value: base, Description: jsii.String("base address of the API")})
	awscdk.NewCfnOutput(stack, jsii.String("Admin"), &awscdk.CfnOutputProps{
		Value: jsii.String(b.name(catalog.FunctionAdmin)), Description: jsii.String("function with which to invite distributors"),
	})
	return stack
}

func (b *builder) rest(stack awscdk.Stack) awsapigateway.SpecRestApi {
	logs := b.logs(stack, "AccessLogs", "/aws/apigateway/"+b.name("api"))
	api := awsapigateway.NewSpecRestApi(stack, jsii.String(restAPI), &awsapigateway.SpecRestApiProps{
		RestApiName:                 jsii.String(b.name("api")),
		ApiDefinition:               awsapigateway.ApiDefinition_FromInline(gatewayDocument()),
		EndpointTypes:               &[]awsapigateway.EndpointType{awsapigateway.EndpointType_REGIONAL},
		DisableExecuteApiEndpoint:   jsii.Bool(b.APIDomain != ""), // or the firewall of a domain could be gone around
		MinCompressionSize:          awscdk.Size_Bytes(jsii.Number(1024)),
		BinaryMediaTypes:            jsii.Strings("*/*"), // or a compressed answer would leave in base64
		CloudWatchRole:              jsii.Bool(b.APILogRole),
		CloudWatchRoleRemovalPolicy: awscdk.RemovalPolicy_RETAIN, // other APIs of the account may have come to use it
		DeployOptions: &awsapigateway.StageOptions{
			StageName:            jsii.String(catalog.Stage),
			ThrottlingRateLimit:  jsii.Number(float64(b.ThrottleRate)),
			ThrottlingBurstLimit: jsii.Number(float64(b.ThrottleBurst)),
			TracingEnabled:       jsii.Bool(true),
			MetricsEnabled:       jsii.Bool(false), // by method they cost more than the requests
			LoggingLevel:         awsapigateway.MethodLoggingLevel_OFF,
			AccessLogDestination: awsapigateway.NewLogGroupLogDestination(logs),
			AccessLogFormat:      awsapigateway.AccessLogFormat_Custom(jsii.String(accessLog(restLog))),
		},
	})
	rename(api, restAPI)
	api.Node().TryRemoveChild(jsii.String("Endpoint")) // an output that BaseURL replaces
	rename(api.DeploymentStage(), "ApiStage")
	if role := api.Node().TryFindChild(jsii.String("CloudWatchRole")); role != nil {
		accept(role, "AwsSolutions-IAM4", "The policy that AWS manages for this very purpose: what API Gateway needs in order to write logs may change with it.",
			"Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs")
	}
	accept(api, "AwsSolutions-APIG2", "Functions validate requests against the catalog and answer with the one error body of this API, which the gateway's validation does not know.")
	accept(api.DeploymentStage(), "AwsSolutions-APIG6", "Execution logs write down query strings, and those carry signatures. The access log holds what is needed to find a fault, without the query.")
	return api
}

// restLog and feedLog are the fields of an access log. None holds the query,
// which carries signatures.
var (
	restLog = map[string]string{
		"requestId": "$context.requestId", "time": "$context.requestTimeEpoch", "ip": "$context.identity.sourceIp",
		"agent": "$context.identity.userAgent", "method": "$context.httpMethod", "resource": "$context.resourcePath",
		"status": "$context.status", "bytes": "$context.responseLength", "ms": "$context.responseLatency",
		"functionMs": "$context.integrationLatency", "authorizerMs": "$context.authorizer.latency",
		"key": "$context.authorizer.key", "error": "$context.error.responseType",
		"functionError": "$context.integrationErrorMessage", "waf": "$context.wafResponseCode", "trace": "$context.xrayTraceId",
	}
	feedLog = map[string]string{
		"requestId": "$context.requestId", "time": "$context.requestTimeEpoch", "ip": "$context.identity.sourceIp",
		"connection": "$context.connectionId", "event": "$context.eventType", "route": "$context.routeKey",
		"status": "$context.status", "functionMs": "$context.integrationLatency",
		"key": "$context.authorizer.key", "error": "$context.error.responseType", "functionError": "$context.integrationErrorMessage",
	}
)

func accessLog(fields map[string]string) string {
	line, err := json.Marshal(fields)
	if err != nil {
		panic(err) // strings encode
	}
	return string(line)
}

// firewall refuses addresses that send too much, or are known for it.
func (b *builder) firewall(stack awscdk.Stack, api awsapigateway.SpecRestApi) {
	seen := func(name string) *awswafv2.CfnWebACL_VisibilityConfigProperty {
		return &awswafv2.CfnWebACL_VisibilityConfigProperty{
			CloudWatchMetricsEnabled: true, SampledRequestsEnabled: false, // a sample shows whole queries
			MetricName: jsii.String(b.name(name)),
		}
	}
	var throttled catalog.GatewayResponse
	for _, r := range catalog.GatewayResponses() {
		if r.Type == "THROTTLED" {
			throttled = r
		}
	}
	body := strings.ReplaceAll(throttled.Template, "$context.requestId", "") // unknown to the firewall
	acl := awswafv2.NewCfnWebACL(stack, jsii.String("Firewall"), &awswafv2.CfnWebACLProps{
		Name:             jsii.String(b.name("firewall")),
		Scope:            jsii.String("REGIONAL"),
		DefaultAction:    &awswafv2.CfnWebACL_DefaultActionProperty{Allow: map[string]any{}},
		VisibilityConfig: seen("firewall"),
		CustomResponseBodies: map[string]any{"throttled": &awswafv2.CfnWebACL_CustomResponseBodyProperty{
			ContentType: jsii.String("APPLICATION_JSON"), Content: jsii.String(body),
		}},
		Rules: []any{
			&awswafv2.CfnWebACL_RuleProperty{
				Name: jsii.String("rate"), Priority: jsii.Number(0), VisibilityConfig: seen("firewall-rate"),
				Statement: &awswafv2.CfnWebACL_StatementProperty{RateBasedStatement: &awswafv2.CfnWebACL_RateBasedStatementProperty{
					AggregateKeyType: jsii.String("IP"), Limit: jsii.Number(float64(b.WAFRate)), EvaluationWindowSec: jsii.Number(300),
				}},
				Action: &awswafv2.CfnWebACL_RuleActionProperty{Block: &awswafv2.CfnWebACL_BlockActionProperty{
					CustomResponse: &awswafv2.CfnWebACL_CustomResponseProperty{
						ResponseCode: jsii.Number(float64(throttled.Status)), CustomResponseBodyKey: jsii.String("throttled"),
						ResponseHeaders: []any{&awswafv2.CfnWebACL_CustomHTTPHeaderProperty{Name: jsii.String("Retry-After"), Value: jsii.String("300")}},
					},
				}},
			},
			&awswafv2.CfnWebACL_RuleProperty{
				Name: jsii.String("reputation"), Priority: jsii.Number(1), VisibilityConfig: seen("firewall-reputation"),
				Statement: &awswafv2.CfnWebACL_StatementProperty{ManagedRuleGroupStatement: &awswafv2.CfnWebACL_ManagedRuleGroupStatementProperty{
					VendorName: jsii.String("AWS"), Name: jsii.String("AWSManagedRulesAmazonIpReputationList"),
				}},
				OverrideAction: &awswafv2.CfnWebACL_OverrideActionProperty{None: map[string]any{}},
			},
		},
	})
	acl.OverrideLogicalId(jsii.String("Firewall"))
	awswafv2.NewCfnWebACLAssociation(stack, jsii.String("FirewallOfApi"), &awswafv2.CfnWebACLAssociationProps{
		ResourceArn: api.DeploymentStage().StageArn(),
		WebAclArn:   acl.AttrArn(),
	})
}
