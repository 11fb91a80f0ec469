// The admin function is the operator's access to the service. It has no HTTPS
// endpoint: whoever may invoke it through IAM is the operator.
//
//	aws lambda invoke --function-name <admin> --cli-binary-format raw-in-base64-out \
//	  --payload '{"action":"list_distributors"}' /dev/stdout
//
// An event is one JSON object with an action and its parameters. Whole numbers
// may be written as JSON strings; a parameter that an action does not know is
// refused, as a misspelt limit must not become no limit.
//
//	create_invite         name, level, max_sub_keys, max_total_quota (requests per
//	                      calendar month of all sub-keys, 0 = no cap); optional
//	                      rate_limit (requests per minute, 0 or from 60 on),
//	                      ws_conn_limit, ws_sub_limit (each of all sub-keys together,
//	                      0 = no cap), grants ("all" or a list of names; default
//	                      "all"), expires_in (seconds; default never).
//	                      Answers with the token: nothing shows it again.
//	list_invites          optional status: unused, used, revoked or expired
//	revoke_invite         id (as list_invites shows it)
//	list_distributors     with this month's requests
//	disable_distributor   access_key: all its keys are refused at once
//	enable_distributor    access_key
//	set_grants            access_key, grants ("all" or a list of names)
//	set_limits            access_key and one or more of max_sub_keys,
//	                      max_total_quota, rate_limit, ws_conn_limit, ws_sub_limit
//	usage_history         access_key (a distributor's or a sub-key's), optional
//	                      months (default 12): requests by month, of a sub-key by
//	                      day too. What a deleted sub-key used is still there.
//	reseal_secrets        seals every secret with the current data key; when it
//	                      answers complete and 0 older, other data keys can go
//
// A success is {"success":true, ...}. A request that cannot be done is
// {"success":false,"error_type":...,"error":...} with the error_type invalid
// (the text names the parameter), not_found or busy (try again). A fault of the
// service fails the invocation itself, so that retries and alarms see it.
//
// The log holds the action, its outcome and its duration, never the event.
package main
