// Package keys holds who may call the service: distributors with their primary
// keys, the levels that they define, the sub-keys that they issue, and the
// invite tokens with which distributors register.
//
// Everything lives in one DynamoDB table (pk, sk):
//
//	d#<primary access key>   d                   the distributor
//	                         level#<name>        a level
//	                         sub#<access key>    a sub-key
//	                         meta#<access key>   the caller's own text about a sub-key, where there is one
//	k#<access key>           k                   which distributor the key belongs to: never changes
//	invite#<id>              invite              an invite; the id is the SHA-256 of its token
//	invites                  <id>                index of all invites, for the operator
//	distributors             <access key>        index of all distributors, for the operator
//
// # Guarantees
//
// A token registers once, a distributor never holds more than max_sub_keys
// sub-keys, and its allocated quota is the sum of the quotas of its sub-keys,
// at any concurrency: each change that touches two items is one transaction,
// conditional on what it was computed from, and is retried when another one
// came first.
//
// [Store.Resolve] reads strongly consistently and remembers only what cannot
// change, so a disabled or deleted key, a new secret, a changed level or limit
// is in force on the next request.
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
