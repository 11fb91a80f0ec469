package storetest

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"quotary/shared/store"
	"quotary/shared/store/schema"
)

// Stores are those of one test: empty tables and an empty bucket of its own.
type Stores struct {
	Log    *store.Log
	Series *store.Series
	Views  *store.Views

	DB      *dynamodb.Client
	Prefix  string // of the tables
	Objects *s3.Client
	Bucket  string // of the views
}

// Open opens stores until the test ends.
func Open(t testing.TB) Stores {
	t.Helper()
	s := Stores{DB: DynamoDB(t)}
	s.Prefix = Tables(t, s.DB)
	s.Objects, s.Bucket = S3(t)
	s.Log, s.Series, s.Views = store.NewLog(s.DB, s.Prefix+schema.LogTable), store.NewSeries(s.DB, s.Prefix+schema.SeriesTable), store.NewViews(s.Objects, s.Bucket)
	return s
}
