package schema_test

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"quotary/shared/store"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

func TestCreateMakesTheTablesOfTheSchema(t *testing.T) {
	t.Parallel()
	db := storetest.DynamoDB(t)
	prefix := storetest.Tables(t, db)
	for table, indexes := range map[string]string{"log": "by-a by-b by-c by-d", "series": "", "keys": "", "usage": "", "connections": "", "documents": ""} {
		out := must.Get(db.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String(prefix + table)}))(t)
		if out.Table.TableStatus != types.TableStatusActive {
			t.Errorf("table %s is %s", table, out.Table.TableStatus)
		}
		if out.Table.BillingModeSummary == nil || out.Table.BillingModeSummary.BillingMode != types.BillingModePayPerRequest {
			t.Errorf("table %s is not billed by request", table)
		}
		stream := out.Table.StreamSpecification
		if got, want := stream != nil && aws.ToBool(stream.StreamEnabled), table == "connections"; got != want {
			t.Errorf("table %s has a stream: %t, want %t", table, got, want)
		}
		var names []string
		for _, g := range out.Table.GlobalSecondaryIndexes {
			names = append(names, *g.IndexName)
			if g.Projection.ProjectionType != types.ProjectionTypeAll {
				t.Errorf("index %s of %s projects %s", *g.IndexName, table, g.Projection.ProjectionType)
			}
		}
		for _, want := range strings.Fields(indexes) {
			if !strings.Contains(strings.Join(names, " "), want) {
				t.Errorf("table %s has the indexes %v, want %s", table, names, want)
			}
		}
		if len(names) != len(strings.Fields(indexes)) {
			t.Errorf("table %s has the indexes %v, want %s", table, names, indexes)
		}
	}
	ttl := must.Get(db.DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: aws.String(prefix + "usage")}))(t)
	if d := ttl.TimeToLiveDescription; d.TimeToLiveStatus != types.TimeToLiveStatusEnabled || aws.ToString(d.AttributeName) != "exp" {
		t.Errorf("expiry of usage is %s on %q", d.TimeToLiveStatus, aws.ToString(d.AttributeName))
	}
}

func TestCreateTwiceKeepsTheRows(t *testing.T) {
	t.Parallel()
	db := storetest.DynamoDB(t)
	prefix := storetest.Tables(t, db)
	log := store.NewLog(db, prefix+schema.LogTable)
	rows := []store.Row{{Subject: "s", Time: time.UnixMilli(1), ID: "1", Body: []byte(`{}`)}}
	must.Do(t, log.Put(t.Context(), "fill", rows))
	must.Do(t, schema.Create(t.Context(), db, schema.Tables(prefix)))
	if missing, err := log.Missing(t.Context(), "fill", rows); err != nil || missing != 0 {
		t.Errorf("%d rows are missing, error %v", missing, err)
	}
}

func TestCreateRefusesATableOfAnotherShape(t *testing.T) {
	t.Parallel()
	db := storetest.DynamoDB(t)
	prefix := storetest.Tables(t, db)
	for want, index := range map[string][]schema.Index{
		"with 4 indexes, not 0": nil,
		`another index "by-`: {
			{Name: "by-a", Partition: "a"}, {Name: "by-b", Partition: "b"}, {Name: "by-c", Partition: "c"}, {Name: "by-x", Partition: "x"},
		},
	} {
		err := schema.Create(t.Context(), db, []schema.Table{{Name: prefix + "log", Indexes: index}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want one that says %q", err, want)
		}
	}
}

func TestCreateAcceptsAnEngineWithoutExpiry(t *testing.T) {
	t.Parallel()
	db := storetest.DynamoDB(t)
	noTTL := storetest.Intercept(db, func(in any, send func() (any, error)) (any, error) {
		if _, ok := in.(*dynamodb.DescribeTimeToLiveInput); ok {
			return nil, &smithy.GenericAPIError{Code: "UnknownOperationException"}
		}
		return send()
	})
	if err := schema.Create(t.Context(), noTTL, schema.Tables(storetest.Tables(t, db))); err != nil {
		t.Error(err)
	}
}

func TestCreateBucketTwiceIsFine(t *testing.T) {
	t.Parallel()
	client, bucket := storetest.S3(t)
	if err := schema.CreateBucket(t.Context(), client, bucket); err != nil {
		t.Error(err)
	}
}
