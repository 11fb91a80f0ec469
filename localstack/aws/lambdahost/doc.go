// Package lambdahost runs Lambda functions as processes of this machine, over
// the same Runtime API that Amazon's own service speaks to them, so that the
// binary that is deployed is the binary that is run.
//
// A [Host] owns one loopback listener. Each function may have several instances,
// each a child process that learns its address from AWS_LAMBDA_RUNTIME_API:
//
//	127.0.0.1:port/<function>/<instance>
//
// The runtime inside the process appends /2018-06-01/runtime/invocation/next to
// that, waits there for an event, and posts the answer back. The instance part is
// a random token, so a process can only take and answer its own events.
//
// An instance holds one invocation at a time. When all are busy another is
// started, up to [Function.MaxInstances]; beyond that invocations wait in a
// queue bounded in length and time, and what does not fit is [ErrThrottled]. The
// instance that was used last is used next, so that the surplus of a burst falls
// idle and is stopped. An instance that crashes, or is still at work at its
// deadline, takes its invocation with it (a [*FunctionError]) and nothing else.
//
// Functions inherit none of the owner's environment but PATH, HOME and the
// folder for temporary files: credentials in a developer's shell stay there.
//
// [Host.InvokeAPI] is the public Lambda Invoke API over the same functions.
package lambdahost
