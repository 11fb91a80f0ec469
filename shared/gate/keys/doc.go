// Package keys holds who may call the service: distributors with their primary
// keys, the levels that they define, the sub-keys that they issue, and the
// invite tokens with which distributors register.
//
// Everything lives in one DynamoDB table (pk, sk):
//
//	k#<access key>           k                   a key with its secret; a sub-key names its distributor
//	                         meta                the caller's own text about a sub-key, where there is one
//	h#<primary key>#<0..7>   h                   a head: what each request needs of the distributor
//	d#<primary key>          d                   the distributor, the figures of its sub-keys and the count of its levels; batch_<id>, a mark, until a batch's rows are written
//	                         level#<name>        a level
//	l#<primary key>          <age>#<access key>  a row of the list of sub-keys, the newest first
//	invite#<id>              invite              an invite; the id is the SHA-256 of its token
//	invites                  <id>                index of all invites, for the operator
//	distributors             <access key>        index of all distributors, for the operator
//
// # What a request reads
//
// [Store.Resolve] reads two items, strongly consistent and of one unit each: the key,
// whose partition is its own, and one of the eight equal heads, at random. So no
// partition is read for all requests of a distributor: the heads alone would carry
// 24,000 a second, and sub-keys have no common bound. What decides a request and is no
// part of the two are levels: they are remembered together with the head's policy, a
// number that each change of a level or of a head raises in the same transaction, and
// read again when it is another. A disabled or deleted key, a new secret, a changed
// level or limit is therefore in force on the next request.
//
// Management writes the partitions d# and l#, which no request for data reads but for a
// level that has changed.
//
// # Lists
//
// A row is narrow and written with its sub-key, so a list is strongly consistent. A part
// of it is read by a query with a limit, whole sub-keys only of what is shown. Each
// store remembers where parts began, for as long as no row changes, so that whoever
// turns pages does not read the ones before; without that, a part at offset n reads n
// rows, about 25 of them a unit. The figures are those of the distributor's item.
//
// Of 10,000 sub-keys a page of 20 reads 22 units of this table at any offset that is
// remembered and 432 at the last one that is not, a keyword that is new 432, the figures
// 1, the rows of an export 412.
//
// # Guarantees
//
// A token registers once, a distributor never holds more than max_sub_keys
// sub-keys and creates no level beside 100, and its allocated quota is the
// sum of the quotas of its sub-keys, at any concurrency: each change that touches two items is one transaction,
// conditional on what it was computed from, and is retried when another one
// came first. A batch of up to 100 sub-keys is one transaction too; their rows follow
// it, before any list or figure is read.
//
// Someone else's sub-key answers exactly as one that does not exist.
//
// # Secrets
//
// An HMAC needs the secret back, so secrets are not hashed but sealed with
// AES-256-GCM under a data key of the [Ring], bound to their access key: a dump
// of the table signs nothing, and a sealed secret copied to another key does
// not open. Invite tokens are never stored, only their hash. A [Secret] shows
// its value to an explicit string conversion only.
//
// # Failures
//
// Bad input is an [*InvalidError], whose text is for the caller. [ErrUnknown],
// [ErrUnknownLevel], [ErrUnknownInvite] and [ErrBusy] say what they are. Any
// other error is a failure of the store or of the key ring: no text of it
// holds a secret.
package keys
