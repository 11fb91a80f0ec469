package service

import (
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"quotary/shared/aws/attr"
	"quotary/shared/aws/readunits"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

func TestAProgramThatTheCatalogDoesNotDeclareDoesNotStart(t *testing.T) {
	t.Parallel()
	if _, err := Open(t.Context(), "nobody"); err == nil || !strings.Contains(err.Error(), `"nobody"`) {
		t.Errorf("error = %v", err)
	}
}

// A function whose client does not count has no budget for any of its requests.
func TestTheClientOfAFunctionKeepsToABudget(t *testing.T) {
	t.Parallel()
	endpoint := storetest.Endpoint(t)
	s := &Service{AWS: aws.Config{BaseEndpoint: &endpoint, Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("test", "test", "")}}
	table := storetest.Tables(t, storetest.Client(t, endpoint)) + schema.LogTable
	ctx, _ := readunits.WithBudget(t.Context(), 101) // one may cost 100
	var exceeded *readunits.ExceededError
	for range 4 {
		_, err := s.DynamoDB().GetItem(ctx, &dynamodb.GetItemInput{TableName: &table, Key: attr.Item{"pk": attr.S("a"), "sk": attr.S("a")}, ConsistentRead: aws.Bool(true)})
		if errors.As(err, &exceeded) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Error("four rows that may cost 100 units each were read of a budget of 101")
}

// Data is read by all distributors; what a table has of one alone needs no share.
func TestWhatAllReadIsShared(t *testing.T) {
	t.Parallel()
	endpoint := storetest.Endpoint(t)
	db := storetest.Client(t, endpoint)
	s := &Service{
		AWS:    aws.Config{BaseEndpoint: &endpoint, Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("test", "test", "")},
		prefix: storetest.Tables(t, db),
	}
	metered := s.DynamoDB()
	shares := s.shares(metered)
	for table, shared := range map[string]bool{schema.LogTable: true, schema.SeriesTable: true, schema.KeysTable: false, schema.DocumentsTable: false} {
		ctx, budget := readunits.WithBudget(t.Context(), 1000)
		budget.Within(shares, table) // which stands for a distributor
		must.Get(metered.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(s.Table(table)), Key: attr.Item{"pk": attr.S(table + "#a"), "sk": attr.S("a")}}))(t)
		counts := must.Get(db.Scan(t.Context(), &dynamodb.ScanInput{
			TableName: aws.String(s.Table(schema.UsageTable)), FilterExpression: aws.String("begins_with(pk, :of)"),
			ExpressionAttributeValues: attr.Item{":of": attr.S("r#" + table + "#")},
		}))(t)
		if counted := counts.Count > 0; counted != shared {
			t.Errorf("what is read of %s is counted: %t, want %t", table, counted, shared)
		}
	}
}
