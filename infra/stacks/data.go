package stacks

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/jsii-runtime-go"

	"quotary/shared/catalog"
	"quotary/shared/store/schema"
)

// data declares what must survive everything else.
func (b *builder) data(app awscdk.App) awscdk.Stack {
	stack := b.stack(app, "data", "tables, views and the key of secrets")
	for _, spec := range schema.Tables("") {
		b.table(stack, spec)
	}
	b.views(stack)
	b.secretsKey = b.key(stack)
	b.firstDataKey(stack)
	return stack
}

// firstDataKey has a function make the first data key, where there is none, before
// anything is deployed that needs one. It is made once and belongs to the operator
// from then on: later deployments read it and change nothing.
func (b *builder) firstDataKey(stack awscdk.Stack) {
	function := b.function(stack, catalog.FunctionDataKey)
	if function == nil {
		return
	}
	resource := awscdk.NewCustomResource(stack, jsii.String("DataKey"), &awscdk.CustomResourceProps{
		ServiceToken:   function.FunctionArn(),
		ResourceType:   jsii.String("Custom::DataKey"),
		ServiceTimeout: awscdk.Duration_Minutes(jsii.Number(5)),
		RemovalPolicy:  b.removalOnceMade(),
	})
	rename(resource, "DataKey")
}

// table declares a table of the product's schema: keys pk and sk, billed by
// request, restorable to any second of the last 35 days. It is encrypted with
// a key of DynamoDB's own; secrets in it are sealed with keys of ours before.
func (b *builder) table(stack awscdk.Stack, spec schema.Table) {
	text := func(name string) *awsdynamodb.Attribute {
		return &awsdynamodb.Attribute{Name: jsii.String(name), Type: awsdynamodb.AttributeType_STRING}
	}
	props := &awsdynamodb.TableProps{
		TableName:                        jsii.String(b.name(spec.Name)),
		PartitionKey:                     text("pk"),
		SortKey:                          text("sk"),
		BillingMode:                      awsdynamodb.BillingMode_PAY_PER_REQUEST,
		DeletionProtection:               jsii.Bool(b.Keep),
		RemovalPolicy:                    b.removal(),
		PointInTimeRecoverySpecification: &awsdynamodb.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: jsii.Bool(true)},
		// Names the hot keys when a table throttles, and costs nothing until then.
		ContributorInsightsSpecification: &awsdynamodb.ContributorInsightsSpecification{
			Enabled: jsii.Bool(true), Mode: awsdynamodb.ContributorInsightsMode_THROTTLED_KEYS,
		},
	}
	if spec.TTL != "" {
		props.TimeToLiveAttribute = jsii.String(spec.TTL)
	}
	if spec.Stream {
		props.Stream = awsdynamodb.StreamViewType_NEW_AND_OLD_IMAGES
	}
	id := title(spec.Name) + "Table"
	table := awsdynamodb.NewTable(stack, jsii.String(id), props)
	for _, index := range spec.Indexes {
		table.AddGlobalSecondaryIndex(&awsdynamodb.GlobalSecondaryIndexProps{
			IndexName:      jsii.String(index.Name),
			PartitionKey:   text(index.Partition),
			SortKey:        text("sk"),
			ProjectionType: awsdynamodb.ProjectionType_ALL,
		})
	}
	rename(table, id)
}

// views declares the bucket of published views, of quarantined rows and of the
// archive. Every view can be made again from the tables, so old versions of these are
// kept for a day only: long enough to see what a faulty release published. No rule
// touches the archive, which is all that is left of its rows.
func (b *builder) views(stack awscdk.Stack) {
	props := privateBucket(b.bucket(), b.removalOnceMade(), awss3.LifecycleRule{
		Id:                                  jsii.String("old-versions"),
		Prefix:                              jsii.String("views/"),
		NoncurrentVersionExpiration:         awscdk.Duration_Days(jsii.Number(1)),
		ExpiredObjectDeleteMarker:           jsii.Bool(true),
		AbortIncompleteMultipartUploadAfter: awscdk.Duration_Days(jsii.Number(1)),
	})
	props.Versioned = jsii.Bool(true)
	bucket := awss3.NewBucket(stack, jsii.String("Views"), props)
	rename(bucket, "Views")
	accept(bucket, "AwsSolutions-S1",
		"The bucket holds market data that every customer may read, written and read by this deployment's roles alone, up to once a second: a log of each read would cost more than the reads. CloudTrail data events can be switched on for an investigation.")
}

// privateBucket is a bucket of that name that only this account's roles reach, encrypted and by TLS alone.
func privateBucket(name string, removal awscdk.RemovalPolicy, rule awss3.LifecycleRule) *awss3.BucketProps {
	return &awss3.BucketProps{
		BucketName:        sub(name),
		Encryption:        awss3.BucketEncryption_S3_MANAGED,
		EnforceSSL:        jsii.Bool(true),
		MinimumTLSVersion: jsii.Number(1.2),
		BlockPublicAccess: awss3.BlockPublicAccess_BLOCK_ALL(),
		ObjectOwnership:   awss3.ObjectOwnership_BUCKET_OWNER_ENFORCED,
		RemovalPolicy:     removal,
		LifecycleRules:    &[]*awss3.LifecycleRule{&rule},
	}
}

// key declares the key that wraps the data keys which seal API secrets. Who
// loses it loses every secret, so it waits 30 days before it is deleted, and
// stays behind a deleted stack where data is kept.
func (b *builder) key(stack awscdk.Stack) awskms.Key {
	key := awskms.NewKey(stack, jsii.String("Secrets"), &awskms.KeyProps{
		Alias:             jsii.String("alias/" + b.name("secrets")),
		Description:       jsii.String("Wraps the data keys that seal the API secrets of Quotary " + b.Env),
		EnableKeyRotation: jsii.Bool(true),
		PendingWindow:     awscdk.Duration_Days(jsii.Number(30)),
		RemovalPolicy:     b.removalOnceMade(),
	})
	rename(key, "SecretsKey")
	awscdk.NewCfnOutput(stack, jsii.String("SecretsKeyAlias"), &awscdk.CfnOutputProps{
		Value: jsii.String("alias/" + b.name("secrets")), Description: jsii.String("key with which to make data keys"),
	})
	return key
}
