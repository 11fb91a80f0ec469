package stacks

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"

	"quotary/shared/catalog"
)

// functionSeconds is the longest that the gateway waits for a function.
const functionSeconds = 29

// size is a function's memory, with which its share of a core grows, and the
// time an invocation may take.
type size struct{ megabytes, seconds float64 }

func sizeOf(function string) size {
	switch function {
	case catalog.FunctionAuthorizer, functionSocket:
		return size{512, 10} // somebody waits for it before anything else happens
	case catalog.FunctionAdmin:
		return size{256, 60} // may read a year of every sub-key
	case catalog.FunctionPlanned:
		return size{256, 10}
	case catalog.FunctionDataKey:
		return size{256, 180} // waits for the rights of a role that was just made
	default:
		return size{512, functionSeconds}
	}
}

// function declares a Lambda function with a role and a log group of its own.
func (b *builder) function(stack awscdk.Stack, name string) awslambda.Function {
	dir, err := b.program(name)
	if err != nil {
		b.faults = append(b.faults, err)
		return nil
	}
	id := logicalID(name)
	logs := b.logs(stack, title(name)+"Logs", "/aws/lambda/"+b.name(name))
	role := awsiam.NewRole(stack, jsii.String(title(name)+"Role"), &awsiam.RoleProps{
		AssumedBy:      awsiam.NewServicePrincipal(jsii.String("lambda.amazonaws.com"), nil),
		Description:    jsii.String("What the function " + name + " may do"),
		InlinePolicies: &map[string]awsiam.PolicyDocument{"rights": b.policy(name, logs)},
	})
	rename(role, title(name)+"Role")
	explain(role, name)
	small := sizeOf(name)
	function := awslambda.NewFunction(stack, jsii.String(id), &awslambda.FunctionProps{
		FunctionName:  jsii.String(b.name(name)),
		Description:   jsii.String("Quotary " + b.Env + ": " + name),
		Code:          awslambda.Code_FromAsset(jsii.String(dir), nil),
		Runtime:       awslambda.Runtime_PROVIDED_AL2023(),
		Architecture:  b.architecture(),
		Handler:       jsii.String("bootstrap"),
		MemorySize:    jsii.Number(small.megabytes),
		Timeout:       awscdk.Duration_Seconds(jsii.Number(small.seconds)),
		Environment:   b.environment(name, stack),
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

// environment holds a function's settings. Nothing in it is secret: the data
// keys are as KMS wrapped them.
func (b *builder) environment(name string, stack awscdk.Stack) *map[string]*string {
	env := map[string]*string{"QUOTARY_TABLE_PREFIX": jsii.String(b.tables())}
	if b.LocalDynamoDB == "" {
		env["QUOTARY_METRICS"] = jsii.String(b.deployment())
	}
	r, _ := RightsOf(name)
	if len(r.Views) > 0 {
		env["QUOTARY_VIEWS_BUCKET"] = sub(b.bucket())
		if b.LocalViews != "" {
			env["QUOTARY_VIEWS_BUCKET"] = jsii.String(b.LocalViews)
		}
	}
	if r.Secrets {
		env["QUOTARY_NONCE_REPLAY_PROTECTION"] = jsii.String("true")
		if !b.ReplayProtection {
			env["QUOTARY_NONCE_REPLAY_PROTECTION"] = jsii.String("false")
		}
		if b.LocalDynamoDB == "" {
			env["QUOTARY_DATA_KEYS"] = b.dataKeysParameter(stack)
		} else {
			env["QUOTARY_DATA_KEYS_FILE"] = jsii.String("/var/task/data-keys.json")
		}
	}
	if r.DataKey {
		env["QUOTARY_SECRETS_KEY"] = b.secretsKey.KeyArn()
		env["QUOTARY_DATA_KEYS_PARAMETER"] = jsii.String(b.dataKeys())
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
		Retention:     awslogs.RetentionDays(retention(b.LogDays)),
		RemovalPolicy: b.removalOnceMade(),
	})
	rename(group, id)
	return group
}

// explain answers for the wildcards in a program's rights.
func explain(role awsiam.Role, program string) {
	if program != programIngester {
		accept(role, "AwsSolutions-IAM5", "X-Ray knows no resources: its two actions are granted on * or not at all.", "Resource::*")
	}
	r, _ := RightsOf(program)
	if len(r.Views) > 0 {
		accept(role, "AwsSolutions-IAM5", "Views are objects under one prefix of a bucket that holds nothing else, and new ones are named by the program.",
			`/^Resource::arn:.*:s3:::quotary-.*\/views\/\*$/`)
	}
	if r.Stream {
		accept(role, "AwsSolutions-IAM5", "The name of a stream ends with the time at which it was made, which nobody knows before.",
			`/^Resource::arn:.*:dynamodb:.*\/stream\/\*$/`)
	}
	if r.Push {
		accept(role, "AwsSolutions-IAM5", "Connections are named by API Gateway when they open: the right is for those of the four feeds.",
			`/^Resource::.*arn:.*:execute-api:.*\/api\/(POST|GET|DELETE)\/@connections\/\*/`)
	}
}
