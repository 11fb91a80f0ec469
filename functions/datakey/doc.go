// The datakey function makes the first data key of a deployment, so that one
// deployment is all it takes. CloudFormation invokes it for a custom resource of the
// stack that holds the data; it has no endpoint, and clients know nothing of it.
//
// Data keys seal the secrets of API keys. They are kept in a parameter of SSM as KMS
// wrapped them, from where each deployment gives them to the functions. Where there
// is no such parameter, the function has KMS make a data key and writes it down. It
// never sees the plain bytes, and has no right to.
//
// A parameter that is there is never changed: whoever loses a data key loses all
// secrets that it sealed. The function has KMS wrap its data keys once more, into
// nothing, to learn that this deployment's key had wrapped them; where it had not, no
// function could start, so the deployment fails instead and says what to do.
//
// When the stack is abandoned before it was complete, or is deleted with its data, the
// function deletes the parameter if it had made it.
package main
