// Package witness puts the functions behind a gateway that somebody else wrote:
// cdk-local, which serves what CDK synthesizes. The end-to-end walk passes
// through it as through the stack's own gateway, so what both agree on is not a
// misunderstanding of this repository alone.
//
// cdk-local finds the routes, makes the events, judges the authorizer's policies,
// turns answers into HTTP, holds the connections and serves their management API.
// Three things stand in for what it lacks, and all they know is from the templates:
//
//   - [Unroll] writes the REST API's OpenAPI document, which cdk-local does not
//     read, as the resources that CloudFormation would make of it.
//   - [Container] is the docker command to it. A container is an address at which
//     the functions of the running stack are invoked.
//   - The [Witness] itself stands before it. It gives a refusal the gateway response
//     of its kind. Of WebSocket APIs cdk-local knows no authorizer, no stage
//     variables and no answer of $default: a handshake passes the authorizer as a
//     request to the REST API first, events are completed on their way to the
//     function, and what the function answers is sent through the management API.
package witness
