package catalog

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
)

// Reason is why a request, a handshake or a message of a feed is refused or fails. The code
// decides by reasons; [Refusals] says what each means for a client.
type Reason string

// The reasons.
const (
	ReasonBadRequest       Reason = "bad_request"
	ReasonBadBody          Reason = "bad_body"
	ReasonBadParameter     Reason = "bad_parameter"
	ReasonSpanExceeded     Reason = "span_exceeded"
	ReasonTooDear          Reason = "too_dear"
	ReasonAnswerTooLarge   Reason = "answer_too_large"
	ReasonBodyTooLarge     Reason = "body_too_large"
	ReasonNotJSON          Reason = "not_json"
	ReasonHeadersTooLarge  Reason = "headers_too_large"
	ReasonUpgradeRequired  Reason = "upgrade_required"
	ReasonNoEndpoint       Reason = "no_endpoint"
	ReasonMethodNotAllowed Reason = "method_not_allowed"
	ReasonNotBuilt         Reason = "not_built"
	ReasonNotFound         Reason = "not_found"

	ReasonSignatureMissing   Reason = "signature_missing"
	ReasonSignatureMalformed Reason = "signature_malformed"
	ReasonSignatureWrong     Reason = "signature_wrong"
	ReasonTimestampExpired   Reason = "timestamp_expired"
	ReasonNonceUsed          Reason = "nonce_used"

	ReasonDistributorDisabled Reason = "distributor_disabled"
	ReasonKeyDisabled         Reason = "key_disabled"
	ReasonKeyExpired          Reason = "key_expired"
	ReasonKeyDeleted          Reason = "key_deleted"
	ReasonSecretReset         Reason = "secret_reset"
	ReasonWrongKeyKind        Reason = "wrong_key_kind"
	ReasonLevelMissing        Reason = "level_missing"
	ReasonActionMissing       Reason = "action_missing"
	ReasonGrantMissing        Reason = "grant_missing"

	ReasonRateLimited               Reason = "rate_limited"
	ReasonQuotaExhausted            Reason = "quota_exhausted"
	ReasonDistributorRateLimited    Reason = "distributor_rate_limited"
	ReasonDistributorQuotaExhausted Reason = "distributor_quota_exhausted"
	ReasonLookupsExhausted          Reason = "lookups_exhausted"
	ReasonShareExceeded             Reason = "share_exceeded"
	ReasonConnectionsExceeded       Reason = "connections_exceeded"
	ReasonSubscriptionsExceeded     Reason = "subscriptions_exceeded"
	ReasonTooManyMessages           Reason = "too_many_messages"
	ReasonThrottled                 Reason = "throttled"
	ReasonBusy                      Reason = "busy"

	ReasonNotReady       Reason = "not_ready"
	ReasonInternal       Reason = "internal"
	ReasonBadGateway     Reason = "bad_gateway"
	ReasonFunctionFailed Reason = "function_failed"
	ReasonTooSlow        Reason = "too_slow"
)

// Refusal is what a reason means for a client.
type Refusal struct {
	Status  int    // HTTP status of an answer; a message of a feed is answered by a frame without one
	Charged bool   // a counted request stays counted, as its data was read
	Advice  string // what the client does, in one sentence
}

// refusals is the table of reasons.
var refusals = map[Reason]Refusal{
	ReasonBadRequest:       {Status: http.StatusBadRequest, Advice: "Send a valid path, query and headers."},
	ReasonBadBody:          {Status: http.StatusBadRequest, Advice: "Send one JSON object in UTF-8, or no body."},
	ReasonBadParameter:     {Status: http.StatusBadRequest, Advice: "Change the parameter that the message names to what it says is accepted."},
	ReasonSpanExceeded:     {Status: http.StatusBadRequest, Advice: "Ask for a shorter time range, or for a level with a longer one."},
	ReasonTooDear:          {Status: http.StatusBadRequest, Charged: true, Advice: "Narrow the request by the parameters that the message names."},
	ReasonAnswerTooLarge:   {Status: http.StatusBadRequest, Charged: true, Advice: "Ask for less at once, or accept gzip."},
	ReasonBodyTooLarge:     {Status: http.StatusRequestEntityTooLarge, Advice: "Send at most 1 MiB, in a message of a feed at most 128 KiB."},
	ReasonNotJSON:          {Status: http.StatusUnsupportedMediaType, Advice: "Send the body as application/json."},
	ReasonHeadersTooLarge:  {Status: http.StatusRequestHeaderFieldsTooLarge, Advice: "Send fewer or shorter headers."},
	ReasonUpgradeRequired:  {Status: http.StatusUpgradeRequired, Advice: "Open a WebSocket at this address."},
	ReasonNoEndpoint:       {Status: http.StatusNotFound, Advice: "Call a path and method of the list of endpoints."},
	ReasonMethodNotAllowed: {Status: http.StatusMethodNotAllowed, Advice: "Use a method that the Allow header names."},
	ReasonNotBuilt:         {Status: http.StatusNotImplemented, Advice: "Wait for a later version of the service."},
	ReasonNotFound:         {Status: http.StatusNotFound, Advice: "Ask for an id that exists, as the message says where they are listed."},

	ReasonSignatureMissing:   {Status: http.StatusUnauthorized, Advice: "Sign the request in the query, a POST in its query or JSON body."},
	ReasonSignatureMalformed: {Status: http.StatusUnauthorized, Advice: "Send each of the four signature parameters once, in its form."},
	ReasonSignatureWrong:     {Status: http.StatusUnauthorized, Advice: "Check the access key, the secret and the text that is signed."},
	ReasonTimestampExpired:   {Status: http.StatusUnauthorized, Advice: "Sign with the time of now, and set the clock right."},
	ReasonNonceUsed:          {Status: http.StatusUnauthorized, Advice: "Sign again with a new SignatureNonce."},

	ReasonDistributorDisabled: {Status: http.StatusForbidden, Advice: "Ask the operator of the service."},
	ReasonKeyDisabled:         {Status: http.StatusForbidden, Advice: "Ask the distributor to enable the sub-key."},
	ReasonKeyExpired:          {Status: http.StatusForbidden, Advice: "Ask the distributor to extend the sub-key."},
	ReasonKeyDeleted:          {Status: http.StatusForbidden, Advice: "Ask the distributor for a new sub-key."},
	ReasonSecretReset:         {Status: http.StatusForbidden, Advice: "Connect again, signed with the new secret."},
	ReasonWrongKeyKind:        {Status: http.StatusForbidden, Advice: "Use a primary key for management, a sub-key for data."},
	ReasonLevelMissing:        {Status: http.StatusForbidden, Advice: "Ask the distributor to configure the level of the sub-key."},
	ReasonActionMissing:       {Status: http.StatusForbidden, Advice: "Ask the distributor for a level that lists the action."},
	ReasonGrantMissing:        {Status: http.StatusForbidden, Advice: "Ask the distributor, which needs the grant from the operator."},

	ReasonRateLimited:               {Status: http.StatusTooManyRequests, Advice: "Wait for as long as Retry-After says."},
	ReasonQuotaExhausted:            {Status: http.StatusTooManyRequests, Advice: "Wait for the next month, or ask the distributor for a larger quota."},
	ReasonDistributorRateLimited:    {Status: http.StatusTooManyRequests, Advice: "Wait for as long as Retry-After says: all sub-keys share this rate."},
	ReasonDistributorQuotaExhausted: {Status: http.StatusTooManyRequests, Advice: "Ask the distributor: the quota of all its sub-keys is used up."},
	ReasonLookupsExhausted:          {Status: http.StatusTooManyRequests, Advice: "Ask for what was asked for before, or wait for as long as Retry-After says."},
	ReasonShareExceeded:             {Status: http.StatusTooManyRequests, Advice: "Ask for the same less often, or for less of it: all sub-keys of the distributor share what a second serves of it."},
	ReasonConnectionsExceeded:       {Status: http.StatusTooManyRequests, Advice: "Close a connection before opening another."},
	ReasonSubscriptionsExceeded:     {Status: http.StatusTooManyRequests, Advice: "Unsubscribe from something, or use another connection where the message says so."},
	ReasonTooManyMessages:           {Status: http.StatusTooManyRequests, Advice: "Send fewer messages, and connect again in a minute."},
	ReasonThrottled:                 {Status: http.StatusTooManyRequests, Advice: "Try again later, each time after a longer wait."},
	ReasonBusy:                      {Status: http.StatusTooManyRequests, Advice: "Try again: nothing was changed."},

	ReasonNotReady:       {Status: http.StatusServiceUnavailable, Advice: "Ask again after Retry-After, or in a few seconds."},
	ReasonInternal:       {Status: http.StatusInternalServerError, Advice: "Try again, and tell the operator the request id if it lasts."},
	ReasonBadGateway:     {Status: http.StatusBadGateway, Advice: "Try again, and tell the operator the request id if it lasts."},
	ReasonFunctionFailed: {Status: http.StatusGatewayTimeout, Advice: "Try again, and tell the operator the request id if it lasts."},
	ReasonTooSlow:        {Status: http.StatusGatewayTimeout, Charged: true, Advice: "Ask for less at once."},
}

// Reasons returns every reason, by status and name.
func Reasons() []Reason {
	return slices.SortedFunc(maps.Keys(refusals), func(a, b Reason) int {
		return cmp.Or(cmp.Compare(a.Status(), b.Status()), cmp.Compare(a, b))
	})
}

// Known reports whether the table has the reason.
func (r Reason) Known() bool {
	_, known := refusals[r]
	return known
}

// Refusal returns what the reason means for a client.
func (r Reason) Refusal() Refusal { return refusals[r] }

// Status returns the HTTP status of the reason.
func (r Reason) Status() int { return refusals[r].Status }
