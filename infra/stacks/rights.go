package stacks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"

	"quotary/shared/catalog"
	"quotary/shared/keys"
	"quotary/shared/store/schema"
)

const (
	functionSocket  = catalog.FunctionSocket
	programIngester = "ingester"
)

// Rights say what a program may do. What is not listed is denied.
type Rights struct {
	Tables  map[string][]string // actions of DynamoDB by table, without prefixes
	Views   []string            // actions of S3 on the objects under views/
	Secrets bool                // may unwrap the data keys that seal secrets
	DataKey bool                // may make the first data key, and never unwrap one
	Push    bool                // may send frames to WebSocket connections
	Stream  bool                // may follow the stream of connections
}

// Rights of the common kinds.
var (
	readKeys  = []string{"BatchGetItem", "GetItem"}
	keepKeys  = []string{"BatchGetItem", "DeleteItem", "GetItem", "PutItem", "Query", "UpdateItem"}
	burnNonce = []string{"PutItem"} // a signature is accepted once
	count     = []string{"PutItem", "UpdateItem"}
	readUsage = []string{"BatchGetItem"}
	query     = []string{"Query"}
)

// rights is the one table of what programs may do.
var rights = map[string]Rights{
	catalog.FunctionAuthorizer: {
		Tables:  map[string][]string{schema.KeysTable: readKeys, schema.UsageTable: burnNonce},
		Secrets: true,
	},
	catalog.FunctionAdmin: {
		Tables:  map[string][]string{schema.KeysTable: keepKeys, schema.UsageTable: readUsage},
		Secrets: true,
	},
	catalog.FunctionPlanned: {
		Tables:  map[string][]string{schema.KeysTable: readKeys, schema.UsageTable: burnNonce},
		Secrets: true,
	},
	catalog.FunctionDataKey: {
		DataKey: true,
	},
	string(catalog.Distributor): {
		Tables:  map[string][]string{schema.KeysTable: keepKeys, schema.UsageTable: {"BatchGetItem", "PutItem"}},
		Secrets: true,
	},
	string(catalog.PerpMarket): {
		Tables:  map[string][]string{schema.KeysTable: readKeys, schema.UsageTable: count, schema.SeriesTable: query},
		Views:   []string{"GetObject"},
		Secrets: true,
	},
	string(catalog.PerpFills): {
		Tables:  map[string][]string{schema.KeysTable: readKeys, schema.UsageTable: count, schema.LogTable: query, schema.SeriesTable: query},
		Secrets: true,
	},
	string(catalog.PerpOrders): {
		Tables:  map[string][]string{schema.KeysTable: readKeys, schema.UsageTable: count, schema.LogTable: query},
		Secrets: true,
	},
	string(catalog.PerpInfo): {
		Tables:  map[string][]string{schema.KeysTable: readKeys, schema.UsageTable: count, schema.LogTable: query, schema.SeriesTable: query},
		Views:   []string{"GetObject"},
		Secrets: true,
	},
	functionSocket: {
		Tables: map[string][]string{schema.ConnectionsTable: {"DeleteItem", "GetItem", "PutItem", "Query", "UpdateItem"}},
		Push:   true,
	},
	programIngester: {
		Tables: map[string][]string{
			schema.LogTable:         {"BatchWriteItem", "Query"},
			schema.SeriesTable:      {"BatchGetItem", "GetItem", "PutItem", "Query", "UpdateItem"}, // its lease lies there too
			schema.KeysTable:        readKeys,                                                      // whose connections must close
			schema.ConnectionsTable: {"DeleteItem", "GetItem", "Query", "Scan", "UpdateItem"},
		},
		Views:  []string{"GetObject", "PutObject"},
		Push:   true,
		Stream: true,
	},
}

// RightsOf returns the rights of a program; ok is false for one that nobody has
// decided on.
func RightsOf(program string) (r Rights, ok bool) {
	r, ok = rights[program]
	return r, ok
}

// policy is what the program's role may do. Logs are those that a function writes
// itself, nil for a program that is none.
func (b *builder) policy(program string, logs awslogs.ILogGroup) awsiam.PolicyDocument {
	r, ok := RightsOf(program)
	if !ok {
		b.faults = append(b.faults, fmt.Errorf("the function %s has no rights: list what it may do in stacks/rights.go", program))
	}
	document := awsiam.NewPolicyDocument(nil)
	allow := func(sid string, actions, resources []string) {
		props := &awsiam.PolicyStatementProps{Sid: jsii.String(sid), Actions: jsii.Strings(actions...), Resources: jsii.PtrSlice[string]()}
		for _, resource := range resources {
			*props.Resources = append(*props.Resources, sub(resource))
		}
		document.AddStatements(awsiam.NewPolicyStatement(props))
	}
	for _, table := range sorted(r.Tables) {
		allow(title(table), prefixed("dynamodb:", r.Tables[table]), b.tableARNs(table, r.Tables[table]))
	}
	if r.Stream {
		allow("Stream", []string{"dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator", "dynamodb:DescribeTable"},
			[]string{b.tableARN(schema.ConnectionsTable), b.tableARN(schema.ConnectionsTable) + "/stream/*"})
	}
	if len(r.Views) > 0 {
		allow("Views", prefixed("s3:", r.Views), []string{"arn:${AWS::Partition}:s3:::" + b.bucket() + "/views/*"})
		// Without the right to list, S3 answers 403 instead of 404 for a view
		// that was never published, and nobody could tell it from a fault.
		allow("ViewsThatAreNotThere", []string{"s3:ListBucket"}, []string{"arn:${AWS::Partition}:s3:::" + b.bucket()})
	}
	if r.Secrets {
		document.AddStatements(b.wrapping("Secrets", "kms:Decrypt"))
	}
	if r.DataKey {
		document.AddStatements(b.wrapping("DataKey", "kms:GenerateDataKeyWithoutPlaintext", "kms:ReEncryptFrom", "kms:ReEncryptTo"))
		allow("DataKeys", []string{"ssm:DeleteParameter", "ssm:GetParameter", "ssm:PutParameter"},
			[]string{"arn:${AWS::Partition}:ssm:${AWS::Region}:${AWS::AccountId}:parameter" + b.dataKeys()})
	}
	if r.Push && len(b.feedAPIs) > 0 {
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

// tableARNs are the table, and its indexes for those that query.
func (b *builder) tableARNs(table string, actions []string) []string {
	arns := []string{b.tableARN(table)}
	if slices.Contains(actions, "Query") {
		for _, spec := range schema.Tables("") {
			for _, index := range spec.Indexes {
				if spec.Name == table {
					arns = append(arns, b.tableARN(table)+"/index/"+index.Name)
				}
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
func title(name string) string {
	var b strings.Builder
	for _, word := range strings.Split(name, "-") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}
