// Package awsrules gives tests the rules of AWS's DynamoDB that its engines on one
// machine do not have. [New] makes the rules; [Rules.DynamoDB] and [Rules.Streams]
// return clients of a real engine that obey them, and [Rules.RoundTripper] stands before
// the engine of programs. The rules stand where the network would be, so that the SDK's
// own retries, timeouts and errors are the real ones.
//
// What is emulated, by what AWS documents:
//
//   - A TransactWriteItems holds every item that it names, those of a ConditionCheck
//     too, from its beginning to its end, 10 ms ([Rules.Hold]). Another transaction on
//     one of them is cancelled with the reason TransactionConflict for that item, a
//     single write fails with TransactionConflictException, a write of a batch comes
//     back as unprocessed, and TransactGetItems is cancelled. GetItem, Query, Scan and
//     BatchGetItem pass.
//   - One partition key, of any table, takes 1,000 write units and 3,000 read units a
//     second ([Rules.WriteUnits], [Rules.ReadUnits]): a bucket that fills at that rate
//     and holds one second. When it is empty, requests are refused with
//     ProvisionedThroughputExceededException, transactions are cancelled with that
//     reason, and the keys and writes of a batch come back as unprocessed. A
//     refused request costs nothing.
//   - A write unit is 1 KB written, begun ones included, a read unit 4 KB read strongly
//     consistent; an eventually consistent read costs half, and a transaction double. A
//     write whose condition failed, or that met a conflict, and a transaction that was
//     cancelled, cost too: by the size of a Put, one unit for any other. The engine reports
//     the units of what it carried out; of a transaction or a batch a Put counts by its
//     own size, and what is left is shared evenly by the other items. A copy of an item
//     in an index is counted as another write. A Scan is of no one partition, and is
//     counted only.
//   - A shard of a stream takes five GetRecords in any second ([Rules.ShardReads]):
//     another is refused with LimitExceededException.
//   - Every other request takes 3 ms ([Rules.Latency]).
//
// All requests are counted ([Rules.Take]), so that a test can assert what a call
// costs.
//
// # Virtual time
//
// The clients work in a bubble of [testing/synctest]: pauses pass in the bubble's time,
// and the engine, which needs real time, is asked by goroutines outside, during which
// the bubble's time stands still. New, and the engine's client, must be made outside
// the bubble; the clients of the rules may be made on either side. Rules serve one
// bubble, or none, not both. In a bubble, nobody may send a request who holds a mutex
// that another waits for.
package awsrules
