package catalog

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// HeaderDataSince is the header of an answer that would reach further back than the
// deployment knows or retains the data: since when the data goes, in RFC 3339. What lies before
// is not in the answer.
const HeaderDataSince = "X-Data-Since"

// HeaderDataSource is the header of an answer that begins with what somebody else says of a
// time before the data is known here: "venue until <time>" in RFC 3339.
const HeaderDataSource = "X-Data-Source"

// HeaderDataCoverage is the header of an answer that is made of the positions of the accounts that
// are known: how much of the open interest they hold, a decimal fraction from 0 to 1. It is left
// out where the venue does not say the open interest.
const HeaderDataCoverage = "X-Data-Coverage"

// HeaderDataUntil is the header of an answer from what comes some time later, as the hours do that the
// venue publishes: up to when it is whole, in RFC 3339. What was behind it is not in the answer.
const HeaderDataUntil = "X-Data-Until"

// HeaderDataMissing is the header of an answer from what comes with hours, of which some before [HeaderDataUntil] have not
// come, or not whole: their beginnings in RFC 3339, with commas between them, the newest 48 at most.
const HeaderDataMissing = "X-Data-Missing"

// HeaderDataVersion is the header of an answer from something that is made from time to time as a
// whole: when that which the answer is of was made, in RFC 3339.
const HeaderDataVersion = "X-Data-Version"

// ErrorBody is the body of every failure. Readers of each envelope find the members that
// they expect.
type ErrorBody struct {
	Success   bool   `json:"success"`   // always false
	Code      string `json:"code"`      // HTTP status as text, for readers of envelope B
	ErrorCode int    `json:"errorCode"` // HTTP status, for readers of envelope A
	Status    int    `json:"status"`    // HTTP status, for readers of envelope C
	Error     string `json:"error"`     // what was wrong, in one sentence
	Msg       string `json:"msg"`       // the same sentence, for readers of envelope B
	Message   string `json:"message"`   // the same sentence, for readers of envelopes C and D
	RequestID string `json:"request_id"`
}

// NewErrorBody returns the body of a failure.
func NewErrorBody(reason Reason, message, requestID string) ErrorBody {
	status := reason.Status()
	return ErrorBody{
		Code: strconv.Itoa(status), ErrorCode: status, Status: status,
		Error: message, Msg: message, Message: message, RequestID: requestID,
	}
}

// AbsentBody is an answer of envelope B, with status 200, to a lookup that finds nothing
// where clients look for its words: they take a 400 for a fault of their own.
type AbsentBody struct {
	Code  string `json:"code"`  // "400"
	Msg   string `json:"msg"`   // the words
	Data  any    `json:"data"`  // null
	Error string `json:"error"` // why, in one sentence
}

// GatewayResponse is an answer that the gateway gives by itself, before or
// instead of a function. Deployment and the local gateway are both configured
// from [GatewayResponses], so they answer alike.
type GatewayResponse struct {
	Type     string // as the gateway names it
	Status   int    // of its reason; 0 leaves it as it is
	Template string // JSON, with the gateway's $context variables
}

// GatewayResponses returns the gateway's own answers.
//
// They share one body that the reader of every envelope understands. A refused
// signature has a fixed text: whoever cannot sign does not learn what was wrong. A
// denied permission shows the authorizer's reason.
func GatewayResponses() []GatewayResponse {
	return []GatewayResponse{
		response("UNAUTHORIZED", ReasonSignatureWrong, "signature authentication failed: AccessKeyId, SignatureNonce, Timestamp (Unix seconds, within 30) and Signature must be present once and fit the key"),
		response("ACCESS_DENIED", ReasonActionMissing, "$context.authorizer.reason"),
		response("MISSING_AUTHENTICATION_TOKEN", ReasonNoEndpoint, "no such endpoint: see the endpoint list for paths and methods"),
		response("REQUEST_TOO_LARGE", ReasonBodyTooLarge, "the request body is too large: at most 1 MiB is accepted"),
		response("BAD_REQUEST_PARAMETERS", ReasonBadRequest, "the request is malformed: its path, query and headers must be valid"),
		response("BAD_REQUEST_BODY", ReasonBadBody, "the request body is malformed"),
		response("UNSUPPORTED_MEDIA_TYPE", ReasonNotJSON, "the request body must be application/json"),
		response("THROTTLED", ReasonThrottled, "too many requests: try again later"),
		response("QUOTA_EXCEEDED", ReasonThrottled, "too many requests: try again later"),
		response("AUTHORIZER_FAILURE", ReasonInternal, "internal error"),
		response("AUTHORIZER_CONFIGURATION_ERROR", ReasonInternal, "internal error"),
		response("API_CONFIGURATION_ERROR", ReasonInternal, "internal error"),
		response("INTEGRATION_FAILURE", ReasonFunctionFailed, "internal error: the request could not be completed"),
		response("INTEGRATION_TIMEOUT", ReasonTooSlow, "the request took too long"),
		forMany("DEFAULT_4XX", ReasonBadRequest, "$context.error.message"),
		forMany("DEFAULT_5XX", ReasonInternal, "internal error"),
	}
}

// MethodNotAllowed is the answer to a known path with another method. The
// gateway has no such response type: every path carries a catch-all method
// with this fixed answer instead.
func MethodNotAllowed() GatewayResponse {
	return response("METHOD_NOT_ALLOWED", ReasonMethodNotAllowed, "this method is not accepted here: the Allow header names those that are")
}

// LocalResponses returns the answers for which a deployed gateway has no type: it gives
// them as DEFAULT_4XX or DEFAULT_5XX, whose bodies say 400 and 500 whatever the status
// is. The local gateway has a type for each.
func LocalResponses() []GatewayResponse {
	return []GatewayResponse{
		response("UPGRADE_REQUIRED", ReasonUpgradeRequired, "$context.error.message"),
		response("HEADERS_TOO_LARGE", ReasonHeadersTooLarge, "$context.error.message"),
		response("BAD_GATEWAY", ReasonBadGateway, "internal error"),
	}
}

// response is a gateway response.
func response(kind string, reason Reason, text string) GatewayResponse {
	var template bytes.Buffer
	encoder := json.NewEncoder(&template)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(NewErrorBody(reason, text, "$context.requestId")); err != nil {
		panic(err) // strings and numbers encode
	}
	return GatewayResponse{Type: kind, Status: reason.Status(), Template: strings.TrimSpace(template.String())}
}

// forMany is a gateway response for many statuses, whose body shows the first of them.
func forMany(kind string, first Reason, text string) GatewayResponse {
	r := response(kind, first, text)
	r.Status = 0
	return r
}
