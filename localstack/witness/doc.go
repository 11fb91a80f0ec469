// Package witness puts the functions behind a gateway that somebody else wrote:
// cdk-local, which serves what CDK synthesizes. The end-to-end walk passes
// through it as through the stack's own gateway, so what both agree on is not a
// misunderstanding of this repository alone.
//
// Two things are in between, because cdk-local reads no OpenAPI document and runs
// functions in Docker only. [Unroll] writes the REST API's document as the
// resources that CloudFormation would make of it. [Container] stands in for the
// docker command: it runs a function's program as a process, with the interface
// of Amazon's runtime emulator.
package witness
