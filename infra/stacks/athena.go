package stacks

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsathena"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsglue"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/jsii-runtime-go"

	"quotary/functions/ingester/gluetables"
)

// athena declares a Glue database over the archive and the trader table, and a workgroup of Athena
// in which it is asked. Nothing runs, and nothing of the product needs it.
func (b *builder) athena(app awscdk.App) awscdk.Stack {
	stack := b.stack(app, "athena", "tables over the archive and the trader table, for Athena")
	b.database(stack)
	b.answers(stack)
	awsathena.NewCfnWorkGroup(stack, jsii.String("WorkGroup"), &awsathena.CfnWorkGroupProps{
		Name: jsii.String(b.name("athena")), RecursiveDeleteOption: jsii.Bool(true),
		Description: jsii.String("Questions about what Quotary " + b.Env + " has stored"),
		WorkGroupConfiguration: &awsathena.CfnWorkGroup_WorkGroupConfigurationProperty{
			EnforceWorkGroupConfiguration: jsii.Bool(true), PublishCloudWatchMetricsEnabled: jsii.Bool(true),
			BytesScannedCutoffPerQuery: jsii.Number(float64(b.AthenaGB) * 1e9),
			EngineVersion:              &awsathena.CfnWorkGroup_EngineVersionProperty{SelectedEngineVersion: jsii.String("Athena engine version 3")},
			ResultConfiguration: &awsathena.CfnWorkGroup_ResultConfigurationProperty{
				OutputLocation:          sub("s3://" + b.answersBucket() + "/"),
				EncryptionConfiguration: &awsathena.CfnWorkGroup_EncryptionConfigurationProperty{EncryptionOption: jsii.String("SSE_S3")},
			},
		},
	})
	b.asking(stack)
	return stack
}

// databaseName is the name of the Glue database, which SQL has without quotes.
func (s *Settings) databaseName() string { return "quotary_" + s.Env }

// answersBucket is the name of the bucket in which Athena lays its answers.
func (s *Settings) answersBucket() string {
	return s.name("athena-${AWS::AccountId}-${AWS::Region}")
}

func (b *builder) database(stack awscdk.Stack) {
	database := awsglue.NewCfnDatabase(stack, jsii.String("Database"), &awsglue.CfnDatabaseProps{
		CatalogId: stack.Account(),
		DatabaseInput: &awsglue.CfnDatabase_DatabaseInputProperty{
			Name: jsii.String(b.databaseName()), Description: jsii.String("What Quotary " + b.Env + " keeps as Parquet"),
		},
	})
	add := func(id string, table *awsglue.CfnTable_TableInputProperty) {
		awsglue.NewCfnTable(stack, jsii.String(id), &awsglue.CfnTableProps{CatalogId: stack.Account(), DatabaseName: database.Ref(), TableInput: table})
	}
	tables, err := gluetables.Tables()
	if err != nil {
		b.faults = append(b.faults, err)
		return
	}
	for _, of := range tables {
		add("Table-"+of.Name, b.glueTable(&of))
		if !of.Listed {
			continue
		}
		view := gluetables.NewestTraders(b.databaseName(), &of)
		text, err := view.Text()
		if err != nil {
			b.faults = append(b.faults, err)
			return
		}
		add("View-"+view.Name, &awsglue.CfnTable_TableInputProperty{
			Name: jsii.String(view.Name), TableType: jsii.String("VIRTUAL_VIEW"),
			Parameters:       map[string]string{"presto_view": "true", "comment": "Presto View"},
			ViewOriginalText: jsii.String(text), ViewExpandedText: jsii.String("/* Presto View */"),
			StorageDescriptor: &awsglue.CfnTable_StorageDescriptorProperty{Columns: glueColumns(of.Columns), SerdeInfo: &awsglue.CfnTable_SerdeInfoProperty{}},
		})
	}
}

// Of the classes with which Hive reads files.
const (
	hiveIO      = "org.apache.hadoop.hive.ql.io."
	hiveParquet = hiveIO + "parquet."
)

// glueTable is a table over files of the bucket of views. The days of an archive are worked out by
// whoever asks, so that nobody has to make a day known.
func (b *builder) glueTable(of *gluetables.Table) *awsglue.CfnTable_TableInputProperty {
	table := &awsglue.CfnTable_TableInputProperty{Name: jsii.String(of.Name), TableType: jsii.String("EXTERNAL_TABLE")}
	input, output := hiveParquet+"MapredParquetInputFormat", hiveParquet+"MapredParquetOutputFormat"
	parameters := map[string]string{"EXTERNAL": "TRUE", "classification": "parquet"}
	if of.Listed {
		input, output = hiveIO+"SymlinkTextInputFormat", hiveIO+"HiveIgnoreKeyTextOutputFormat"
	} else {
		table.PartitionKeys = glueColumns([]gluetables.Column{{Name: "date", Type: "string"}})
		for name, value := range map[string]string{"type": "date", "format": "yyyy-MM-dd", "range": firstDay + ",NOW", "interval": "1", "interval.unit": "DAYS"} {
			parameters["projection.date."+name] = value
		}
		parameters["projection.enabled"] = "true"
	}
	table.Parameters = parameters
	table.StorageDescriptor = &awsglue.CfnTable_StorageDescriptorProperty{
		Columns: glueColumns(of.Columns), Location: sub("s3://" + b.bucket() + "/" + of.Prefix), InputFormat: &input, OutputFormat: &output,
		SerdeInfo: &awsglue.CfnTable_SerdeInfoProperty{SerializationLibrary: jsii.String(hiveParquet + "serde.ParquetHiveSerDe")},
	}
	return table
}

// firstDay is before the venue had its first trade.
const firstDay = "2023-01-01"

func glueColumns(columns []gluetables.Column) []*awsglue.CfnTable_ColumnProperty {
	list := make([]*awsglue.CfnTable_ColumnProperty, len(columns))
	for i := range columns {
		list[i] = &awsglue.CfnTable_ColumnProperty{Name: &columns[i].Name, Type: &columns[i].Type}
	}
	return list
}

// answers declares the bucket of answers, which can be had again by asking again.
func (b *builder) answers(stack awscdk.Stack) {
	bucket := awss3.NewBucket(stack, jsii.String("Answers"), privateBucket(b.answersBucket(), awscdk.RemovalPolicy_DESTROY, awss3.LifecycleRule{
		Id: jsii.String("answers"), Expiration: awscdk.Duration_Days(jsii.Number(7)), AbortIncompleteMultipartUploadAfter: awscdk.Duration_Days(jsii.Number(1)),
	}))
	rename(bucket, "Answers")
	accept(bucket, "AwsSolutions-S1", "The bucket holds answers to questions about market data for a week; who asked what is in Athena's own history and in CloudTrail.")
}

// asking declares what somebody needs who asks, and no more: a policy that the operator attaches.
func (b *builder) asking(stack awscdk.Stack) {
	document := awsiam.NewPolicyDocument(nil)
	allow := func(sid, service string, actions []string, resources ...string) *awsiam.PolicyStatementProps {
		props := &awsiam.PolicyStatementProps{Sid: jsii.String(sid), Actions: jsii.Strings(prefixed(service+":", actions)...), Resources: jsii.PtrSlice[string]()}
		for _, resource := range resources {
			*props.Resources = append(*props.Resources, sub("arn:${AWS::Partition}:"+resource))
		}
		return props
	}
	glue, views, answers := "glue:${AWS::Region}:${AWS::AccountId}:", "s3:::"+b.bucket(), "s3:::"+b.answersBucket()
	listed := allow("ListFiles", "s3", []string{"ListBucket"}, views)
	listed.Conditions = &map[string]any{"StringLike": map[string]any{"s3:prefix": []string{"archive/*", "tables/*"}}}
	for _, props := range []*awsiam.PolicyStatementProps{
		allow("Ask", "athena", []string{"GetQueryExecution", "GetQueryResults", "GetWorkGroup", "ListQueryExecutions", "StartQueryExecution", "StopQueryExecution"},
			"athena:${AWS::Region}:${AWS::AccountId}:workgroup/"+b.name("athena")),
		allow("Tables", "glue", []string{"GetDatabase", "GetDatabases", "GetPartitions", "GetTable", "GetTables"},
			glue+"catalog", glue+"database/"+b.databaseName(), glue+"table/"+b.databaseName()+"/*"),
		allow("ReadFiles", "s3", []string{"GetObject"}, views+"/archive/*", views+"/tables/*"),
		listed,
		allow("Buckets", "s3", []string{"GetBucketLocation"}, views, answers),
		allow("Answers", "s3", []string{"AbortMultipartUpload", "GetObject", "ListMultipartUploadParts", "PutObject"}, answers+"/*"),
		allow("ListAnswers", "s3", []string{"ListBucket"}, answers),
	} {
		document.AddStatements(awsiam.NewPolicyStatement(props))
	}
	policy := awsiam.NewManagedPolicy(stack, jsii.String("Asking"), &awsiam.ManagedPolicyProps{
		ManagedPolicyName: jsii.String(b.name("athena")), Document: document,
		Description: jsii.String("Ask with Athena what Quotary " + b.Env + " has stored"),
	})
	accept(policy, "AwsSolutions-IAM5", "Tables of the one database, files below the two prefixes that they are made of, and answers in their own bucket have names that are not known before.",
		`/^Resource::arn:.*:(glue:.*:table\/quotary_.*|s3:::quotary-.*-views-.*\/(archive|tables)|s3:::quotary-.*-athena-.*)\/\*$/`)
	awscdk.NewCfnOutput(stack, jsii.String("AskingPolicy"), &awscdk.CfnOutputProps{
		Value: policy.ManagedPolicyArn(), Description: jsii.String("policy to attach to who asks with Athena"),
	})
}
