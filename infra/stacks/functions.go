package stacks

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"

	"quotary/shared/catalog"
)

// function declares a Lambda function with a role and a log group of its own.
func (b *builder) function(stack awscdk.Stack, name string) awslambda.Function {
	dir, err := b.program(name)
	if err != nil {
		b.faults = append(b.faults, err)
		return nil
	}
	p, id := b.declaration(name), logicalID(name)
	logs := b.logs(stack, title(name)+"Logs", "/aws/lambda/"+b.name(name))
	role := awsiam.NewRole(stack, jsii.String(title(name)+"Role"), &awsiam.RoleProps{
		AssumedBy:      awsiam.NewServicePrincipal(jsii.String("lambda.amazonaws.com"), nil),
		Description:    jsii.String("What the function " + name + " may do"),
		InlinePolicies: &map[string]awsiam.PolicyDocument{"rights": b.policy(p, logs)},
	})
	rename(role, title(name)+"Role")
	explain(role, p)
	function := awslambda.NewFunction(stack, jsii.String(id), &awslambda.FunctionProps{
		FunctionName:  jsii.String(b.name(name)),
		Description:   jsii.String("Quotary " + b.Env + ": " + name),
		Code:          awslambda.Code_FromAsset(jsii.String(dir), nil),
		Runtime:       awslambda.Runtime_PROVIDED_AL2023(),
		Architecture:  b.architecture(),
		Handler:       jsii.String("bootstrap"),
		MemorySize:    jsii.Number(float64(p.Memory)),
		Timeout:       awscdk.Duration_Seconds(jsii.Number(p.Timeout.Seconds())),
		Environment:   b.environment(p, stack),
		Role:          role.WithoutPolicyUpdates(nil),
		LogGroup:      logs,
		LoggingFormat: awslambda.LoggingFormat_JSON,
		Tracing:       awslambda.Tracing_ACTIVE,
	})
	rename(function, id)
	return function
}

// architecture is Lambda's, or that of the machine on which sam runs functions.
func (b *builder) architecture() awslambda.Architecture {
	if b.LocalArchitecture == "x86_64" {
		return awslambda.Architecture_X86_64()
	}
	return awslambda.Architecture_ARM_64()
}

// environment holds the settings that a program declares to read. It stands in the
// template, so nothing in it may be secret: the data keys are as KMS wrapped them, and
// the guide asks for feeds whose addresses hold no token.
func (b *builder) environment(p catalog.Program, stack awscdk.Stack) *map[string]*string {
	env := map[string]*string{}
	for _, name := range p.Environment() {
		// A value that is none is left out: the program then does without.
		set := func(value, none string) {
			if value != none {
				env[name] = jsii.String(value)
			}
		}
		switch name {
		case catalog.EnvTablePrefix:
			env[name] = jsii.String(b.tables())
		case catalog.EnvMetrics:
			if b.LocalDynamoDB == "" {
				env[name] = jsii.String(b.deployment())
			}
		case catalog.EnvViewsBucket:
			env[name] = sub(cmp.Or(b.LocalViews, b.bucket()))
		case catalog.EnvReplayProtection:
			env[name] = jsii.String(strconv.FormatBool(b.ReplayProtection))
		case catalog.EnvManagementRate:
			env[name] = jsii.String(strconv.Itoa(b.ManagementRate))
		case catalog.EnvDataKeys:
			if b.LocalDynamoDB == "" {
				env[name] = b.dataKeysParameter(stack)
			} else {
				env[catalog.EnvDataKeysFile] = jsii.String("/var/task/data-keys.json")
			}
		case catalog.EnvSecretsKey:
			env[name] = b.secretsKey.KeyArn()
		case catalog.EnvDataKeysParameter:
			env[name] = jsii.String(b.dataKeys())
		case catalog.EnvRetention:
			set(b.Retention, "")
		case catalog.EnvDomains:
			set(b.Domains, "")
		case catalog.EnvIngesterAddr:
			env[name] = jsii.String(healthAddress)
		case catalog.EnvFeeds:
			if len(b.feedAPIs) == 0 {
				env[name] = jsii.String("false")
			}
		case catalog.EnvHyperliquidURL.Name, catalog.EnvRelayWeight.Name:
			set(b.domains[name], "")
		default:
			b.faults = append(b.faults, fmt.Errorf("the program %s reads %s, for which there is no value", p.Name, name))
		}
	}
	for name, endpoint := range map[string]string{"AWS_ENDPOINT_URL_DYNAMODB": b.LocalDynamoDB, "AWS_ENDPOINT_URL_S3": b.LocalS3} {
		if endpoint != "" {
			env[name] = jsii.String(endpoint)
		}
	}
	return &env
}

// dataKeysParameter is a parameter of the stack that CloudFormation fills from
// SSM at each deployment.
func (b *builder) dataKeysParameter(stack awscdk.Stack) *string {
	const id = "DataKeys"
	if have := stack.Node().TryFindChild(jsii.String(id)); have != nil {
		return have.(awscdk.CfnParameter).ValueAsString()
	}
	return awscdk.NewCfnParameter(stack, jsii.String(id), &awscdk.CfnParameterProps{
		Type:        jsii.String("AWS::SSM::Parameter::Value<String>"),
		Default:     jsii.String(b.dataKeys()),
		Description: jsii.String("SSM parameter with the data keys that seal secrets, wrapped by KMS"),
	}).ValueAsString()
}

// logs declares a log group that forgets.
func (b *builder) logs(stack awscdk.Stack, id, name string) awslogs.LogGroup {
	group := awslogs.NewLogGroup(stack, jsii.String(id), &awslogs.LogGroupProps{
		LogGroupName:  jsii.String(name),
		Retention:     awslogs.RetentionDays(logRetention(b.LogDays)),
		RemovalPolicy: b.removalOnceMade(),
	})
	rename(group, id)
	return group
}

// explain answers for the wildcards in a program's rights.
func explain(role awsiam.Role, p catalog.Program) {
	if p.InvokedBy != catalog.Nobody {
		accept(role, "AwsSolutions-IAM5", "X-Ray knows no resources: its two actions are granted on * or not at all.", "Resource::*")
	}
	for _, prefix := range sorted(p.Objects) {
		accept(role, "AwsSolutions-IAM5", "Views, the archive and what is in quarantine are objects under a prefix each of a bucket that holds nothing else, and new ones are named by the program.",
			`/^Resource::arn:.*:s3:::quotary-.*\/`+strings.Trim(prefix, "/")+`\/\*$/`)
	}
	if p.Stream {
		accept(role, "AwsSolutions-IAM5", "The name of a stream ends with the time at which it was made, which nobody knows before.",
			`/^Resource::arn:.*:dynamodb:.*\/stream\/\*$/`)
	}
	if p.Push {
		accept(role, "AwsSolutions-IAM5", "Connections are named by API Gateway when they open: the right is for those of the four feeds.",
			`/^Resource::.*arn:.*:execute-api:.*\/`+catalog.Stage+`\/(POST|GET|DELETE)\/@connections\/\*/`)
	}
}
