package stacks_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"quotary/shared/store/schema"
)

func TestTheTablesAreTheProductsSchema(t *testing.T) {
	t.Parallel()
	_, tables := full.parts["data"].all("AWS::DynamoDB::Table")
	for _, spec := range schema.Tables("quotary-prod-") {
		var table *resource
		for _, r := range tables {
			if r.Properties["TableName"] == spec.Name {
				table = r
			}
		}
		if table == nil {
			t.Errorf("there is no table %s", spec.Name)
			continue
		}
		p := table.Properties
		if got := keySchema(p["KeySchema"]); got != "pk HASH, sk RANGE" {
			t.Errorf("%s has the keys %s", spec.Name, got)
		}
		var indexes []string
		for _, g := range listed(p["GlobalSecondaryIndexes"]) {
			indexes = append(indexes, fmt.Sprintf("%s: %s, %s", at(g, "IndexName"), keySchema(at(g, "KeySchema")), at(g, "Projection", "ProjectionType")))
		}
		var want []string
		for _, index := range spec.Indexes {
			want = append(want, fmt.Sprintf("%s: %s HASH, sk RANGE, ALL", index.Name, index.Partition))
		}
		if !slices.Equal(indexes, want) {
			t.Errorf("%s has the indexes %q, want %q", spec.Name, indexes, want)
		}
		for _, a := range listed(p["AttributeDefinitions"]) {
			if at(a, "AttributeType") != "S" {
				t.Errorf("%s: %v", spec.Name, a)
			}
		}
		if ttl, _ := at(p, "TimeToLiveSpecification", "AttributeName").(string); ttl != spec.TTL || spec.TTL != "" && at(p, "TimeToLiveSpecification", "Enabled") != true {
			t.Errorf("%s expires by %q, want %q", spec.Name, ttl, spec.TTL)
		}
		if view, _ := at(p, "StreamSpecification", "StreamViewType").(string); (view == "NEW_AND_OLD_IMAGES") != spec.Stream {
			t.Errorf("%s streams %q", spec.Name, view)
		}
	}
	if len(tables) != len(schema.Tables("")) {
		t.Errorf("%d tables, want %d", len(tables), len(schema.Tables("")))
	}
}

func keySchema(v any) string {
	var keys []string
	for _, k := range listed(v) {
		keys = append(keys, fmt.Sprint(at(k, "AttributeName"), " ", at(k, "KeyType")))
	}
	return strings.Join(keys, ", ")
}

func TestTablesAreBilledByRequestRestorableAndHardToLose(t *testing.T) {
	t.Parallel()
	ids, tables := full.parts["data"].all("AWS::DynamoDB::Table")
	for _, id := range ids {
		p := tables[id].Properties
		if p["BillingMode"] != "PAY_PER_REQUEST" || p["DeletionProtectionEnabled"] != true || tables[id].DeletionPolicy != "Retain" ||
			at(p, "PointInTimeRecoverySpecification", "PointInTimeRecoveryEnabled") != true {
			t.Errorf("%s = %v, %s", id, p, tables[id].DeletionPolicy)
		}
		if at(p, "ContributorInsightsSpecification", "Mode") != "THROTTLED_KEYS" {
			t.Errorf("%s does not name its hot keys", id)
		}
	}
}

func TestTheViewsAreEncryptedPrivateAndForgotten(t *testing.T) {
	t.Parallel()
	bucket := full.parts["data"].only(t, "AWS::S3::Bucket")
	p := bucket.Properties
	if at(p, "BucketEncryption", "ServerSideEncryptionConfiguration", 0, "ServerSideEncryptionByDefault", "SSEAlgorithm") != "AES256" ||
		bucket.DeletionPolicy != "RetainExceptOnCreate" || at(p, "VersioningConfiguration", "Status") != "Enabled" {
		t.Errorf("bucket = %v, %s", p, bucket.DeletionPolicy)
	}
	for _, way := range []string{"BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets"} {
		if at(p, "PublicAccessBlockConfiguration", way) != true {
			t.Errorf("%s is off", way)
		}
	}
	for _, rule := range listed(at(p, "LifecycleConfiguration", "Rules")) {
		if prefix, ok := at(rule, "Prefix").(string); !ok || prefix == "" || strings.HasPrefix("archive/", prefix) {
			t.Errorf("a rule is for the archive too: %v", rule)
		}
	}
	if rule := at(p, "LifecycleConfiguration", "Rules", 0); at(rule, "NoncurrentVersionExpiration", "NoncurrentDays") != 1.0 || at(rule, "Status") != "Enabled" || at(rule, "ExpirationInDays") != nil {
		t.Errorf("lifecycle = %v", rule)
	}
	insecure, old := false, false
	for _, s := range listed(at(full.parts["data"].only(t, "AWS::S3::BucketPolicy").Properties, "PolicyDocument", "Statement")) {
		if at(s, "Effect") == "Deny" {
			insecure = insecure || at(s, "Condition", "Bool", "aws:SecureTransport") == "false"
			old = old || at(s, "Condition", "NumericLessThan", "s3:TlsVersion") != nil
		} else {
			t.Errorf("the bucket's policy allows %v", s)
		}
	}
	if !insecure || !old {
		t.Error("the bucket takes requests without TLS, or with an old one")
	}
}

func TestTheKeyOfSecretsRotatesAndStays(t *testing.T) {
	t.Parallel()
	key := full.parts["data"].only(t, "AWS::KMS::Key")
	if key.Properties["EnableKeyRotation"] != true || key.DeletionPolicy != "RetainExceptOnCreate" || key.Properties["PendingWindowInDays"] != 30.0 {
		t.Errorf("key = %v, %s", key.Properties, key.DeletionPolicy)
	}
	if alias := full.parts["data"].only(t, "AWS::KMS::Alias"); alias.Properties["AliasName"] != "alias/quotary-prod-secrets" {
		t.Errorf("alias = %v", alias.Properties)
	}
	for _, s := range listed(at(key.Properties, "KeyPolicy", "Statement")) {
		if who := plain(at(s, "Principal", "AWS")); who != "arn:${AWS::Partition}:iam::${AWS::AccountId}:root" {
			t.Errorf("the key's policy trusts %s", who)
		}
	}
}

func TestTheFirstDataKeyIsMadeByTheDeploymentAndStays(t *testing.T) {
	t.Parallel()
	part := full.parts["data"]
	made := part.only(t, "Custom::DataKey")
	if made.DeletionPolicy != "RetainExceptOnCreate" || plain(made.Properties["ServiceToken"]) != "${DatakeyFunction.Arn}" || made.Properties["ServiceTimeout"] != "300" {
		t.Errorf("it is %v, %s", made.Properties, made.DeletionPolicy)
	}
	function := part.only(t, "AWS::Lambda::Function").Properties
	env := at(function, "Environment", "Variables")
	if plain(at(env, "QUOTARY_SECRETS_KEY")) != "${SecretsKey.Arn}" || at(env, "QUOTARY_DATA_KEYS_PARAMETER") != "/quotary/prod/data-keys" {
		t.Errorf("its function has %v", env)
	}
	if seconds := function["Timeout"].(float64); seconds >= 300 {
		t.Errorf("CloudFormation gives up before the %v s of the function", seconds)
	}
}
