// Package store keeps the product's data in the four shapes that every
// endpoint reads:
//
//   - Log: immutable rows under a subject, in order of time (a DynamoDB table
//     with four sparse indexes);
//   - Series: one row per name, key, interval and time bucket, rewritten while
//     the bucket is open (a DynamoDB table, which also holds the checkpoints of
//     the sources);
//   - Views: the current state of something, published whole as one S3 object;
//     a View keeps the last version in memory;
//   - Documents: small state that callers or operators write, by owner and ID,
//     with a revision (a DynamoDB table).
//
// The ingester is the only writer of the first three, of which one at a time writes. Rows have
// natural keys, so every write may be repeated: after an error or a crash the
// writer repeats the batch, and the result is the same. What a writer sends that
// was replaced without knowing it is refused where it would undo something: see
// [Series.Under] and [Views.Owned]. Keys are composed in keys.go and documents.go and nowhere else;
// the package schema defines the tables.
//
// Every call takes a context and ends with it. A single request to DynamoDB or
// S3 is given at most ten seconds.
package store

import "time"

// requestTimeout bounds one request, its retries inside the AWS SDK included.
const requestTimeout = 10 * time.Second
