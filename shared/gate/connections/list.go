package connections

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// List returns every connection, strongly consistent, in no order.
func (s *Store) List(ctx context.Context) ([]Connection, error) {
	var list []Connection
	err := s.scan(ctx, func(im image) {
		if im.id() != "" && im.sort() == sortConnection {
			list = append(list, im.connection())
		}
	})
	return list, err
}

// scan visits every item, strongly consistent.
func (s *Store) scan(ctx context.Context, visit func(image)) error {
	pages := dynamodb.NewScanPaginator(s.db, &dynamodb.ScanInput{TableName: &s.table, ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		page, err := timed(ctx, pages.NextPage)
		if err != nil {
			return fmt.Errorf("list the connections: %w", err)
		}
		for _, it := range page.Items {
			visit(imageOf(it))
		}
	}
	return nil
}
