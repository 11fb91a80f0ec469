package e2e

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/localstack/client"
	"quotary/localstack/stack"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// database is a client of a stack's DynamoDB.
func database(of stack.State) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		BaseEndpoint: &of.DynamoDB, Region: "us-east-1",
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	})
}

// dropTables deletes the tables of a stack from an engine that lives on.
func dropTables(ctx context.Context, of stack.State) error {
	db := database(of)
	pages := dynamodb.NewListTablesPaginator(db, &dynamodb.ListTablesInput{})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, name := range page.TableNames {
			if !strings.HasPrefix(name, of.Tables) {
				continue
			}
			if _, err := db.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: &name}); err != nil {
				return err
			}
		}
	}
	return nil
}

// slots are the connections and subscriptions that the table counts for a key with caps.
func slots(t *testing.T, key client.Key) [2]int64 {
	t.Helper()
	var taken [2]int64
	pages := dynamodb.NewScanPaginator(database(world.State), &dynamodb.ScanInput{
		TableName: aws.String(world.State.Tables + "connections"), ConsistentRead: aws.Bool(true),
		FilterExpression:          aws.String("begins_with(pk, :key)"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":key": &types.AttributeValueMemberS{Value: "k#" + key.AccessKey + "#"}},
	})
	for pages.HasMorePages() {
		page := must.Get(pages.NextPage(t.Context()))(t)
		for _, shard := range page.Items {
			if text(shard["sk"]) == "conns" {
				taken[0] += number(shard["taken"])
			} else {
				taken[1] += number(shard["taken"])
			}
		}
	}
	return taken
}

// freed waits until a key holds no slots.
func freed(t *testing.T, key client.Key) {
	t.Helper()
	testenv.Until(t, "no slot is taken after the last connection ended", func() bool { return slots(t, key) == [2]int64{} })
}

func text(v types.AttributeValue) string {
	s, _ := v.(*types.AttributeValueMemberS)
	if s == nil {
		return ""
	}
	return s.Value
}

func number(v types.AttributeValue) int64 {
	s, _ := v.(*types.AttributeValueMemberN)
	if s == nil {
		return 0
	}
	n, _ := strconv.ParseInt(s.Value, 10, 64)
	return n
}
