package stacks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"

	"quotary/shared/catalog"
	"quotary/shared/gate/keys"
	"quotary/shared/store/schema"
)

// policy is what the program's role may do: what the program declares in the
// catalog, and nothing where it declares nothing. Logs are those that a function
// writes itself, nil for a program that is none.
func (b *builder) policy(p catalog.Program, logs awslogs.ILogGroup) awsiam.PolicyDocument {
	document := awsiam.NewPolicyDocument(nil)
	allow := func(sid string, actions, resources []string) {
		props := &awsiam.PolicyStatementProps{Sid: jsii.String(sid), Actions: jsii.Strings(actions...), Resources: jsii.PtrSlice[string]()}
		for _, resource := range resources {
			*props.Resources = append(*props.Resources, sub(resource))
		}
		document.AddStatements(awsiam.NewPolicyStatement(props))
	}
	for _, table := range sorted(p.Tables) {
		allow(title(table), prefixed("dynamodb:", p.Tables[table]), []string{b.tableARN(table)})
		if indexes := b.indexARNs(table); len(indexes) > 0 && slices.Contains(p.Tables[table], "Query") {
			allow(title(table)+"Indexes", []string{"dynamodb:Query"}, indexes)
		}
	}
	if p.Stream {
		allow("Stream", []string{"dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator", "dynamodb:DescribeTable"},
			[]string{b.tableARN(schema.ConnectionsTable), b.tableARN(schema.ConnectionsTable) + "/stream/*"})
	}
	for _, prefix := range sorted(p.Objects) {
		allow(title(strings.Trim(prefix, "/")), prefixed("s3:", p.Objects[prefix]), []string{"arn:${AWS::Partition}:s3:::" + b.bucket() + "/" + prefix + "*"})
	}
	if len(p.Objects) > 0 {
		// Without the right to list, S3 answers 403 instead of 404 for a view
		// that was never published, which looks like a fault.
		// The ingester counts by it what lies in quarantine.
		allow("ViewsThatAreNotThere", []string{"s3:ListBucket"}, []string{"arn:${AWS::Partition}:s3:::" + b.bucket()})
	}
	if p.Secrets {
		document.AddStatements(b.wrapping("Secrets", "kms:Decrypt"))
	}
	if p.DataKey {
		document.AddStatements(b.wrapping("DataKey", "kms:GenerateDataKeyWithoutPlaintext", "kms:ReEncryptFrom", "kms:ReEncryptTo"))
		allow("DataKeys", []string{"ssm:DeleteParameter", "ssm:GetParameter", "ssm:PutParameter"},
			[]string{"arn:${AWS::Partition}:ssm:${AWS::Region}:${AWS::AccountId}:parameter" + b.dataKeys()})
	}
	if p.Push && len(b.feedAPIs) > 0 {
		var connections []*string
		for _, feed := range b.feedAPIs {
			connections = append(connections, feed.connections()...)
		}
		document.AddStatements(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
			Sid: jsii.String("Push"), Actions: jsii.Strings("execute-api:ManageConnections"), Resources: &connections,
		}))
	}
	if logs != nil {
		document.AddStatements(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
			Sid: jsii.String("Logs"), Actions: jsii.Strings("logs:CreateLogStream", "logs:PutLogEvents"), Resources: &[]*string{logs.LogGroupArn()},
		}))
		allow("Trace", []string{"xray:PutTelemetryRecords", "xray:PutTraceSegments"}, []string{"*"}) // which Lambda does by itself
	}
	return document
}

// declaration returns what a program declares. One that declares nothing is left
// without rights, and the synthesis fails.
func (b *builder) declaration(program string) catalog.Program {
	p, ok := catalog.ProgramOf(program)
	if !ok {
		b.faults = append(b.faults, fmt.Errorf("the program %s declares nothing: list what it reads and writes in shared/catalog/program.go", program))
		p.Name = program
	}
	return p
}

// wrapping allows actions of the key of secrets on what was made as a data key of
// this product, and on nothing else.
func (b *builder) wrapping(sid string, actions ...string) awsiam.PolicyStatement {
	return awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Sid: jsii.String(sid), Actions: jsii.Strings(actions...), Resources: &[]*string{b.secretsKey.KeyArn()},
		Conditions: &map[string]any{
			"Null":                      map[string]any{"kms:EncryptionContext:" + keys.DataKeyContext: "false"},
			"ForAllValues:StringEquals": map[string]any{"kms:EncryptionContextKeys": []string{keys.DataKeyContext}},
		},
	})
}

func (b *builder) indexARNs(table string) (arns []string) {
	for _, spec := range schema.Tables("") {
		for _, index := range spec.Indexes {
			if spec.Name == table {
				arns = append(arns, b.tableARN(table)+"/index/"+index.Name)
			}
		}
	}
	return arns
}

func (b *builder) tableARN(table string) string {
	return "arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/" + b.tables() + table
}

func prefixed(prefix string, actions []string) []string {
	out := make([]string, len(actions))
	for i, action := range actions {
		out[i] = prefix + action
	}
	return out
}

func sorted[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// title is a name as a statement id: letters and digits that begin upper case.
func title(name string) string { return catalog.Program{Name: name}.Title() }
