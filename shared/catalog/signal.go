package catalog

// The planned endpoints of the family Signal: specified, without a handler yet.
var (
	_ = planned("GET", "/v2/signal/signalAlert", Signal, anyLevel, EnvelopeA)
	_ = planned("GET", "/v2/signal/signalAlertConf", Signal, anyLevel, EnvelopeA)
	_ = planned("GET", "/v2/signal/addSignalAlert", Signal, anyLevel, EnvelopeA)
	_ = planned("GET", "/v2/signal/delSignalAlert", Signal, anyLevel, EnvelopeA)
	_ = planned("GET", "/v2/signal/getSignalAlertSetList", Signal, anyLevel, EnvelopeA)
	_ = planned("GET", "/v2/signal/strategySignal", Signal, anyLevel, EnvelopeA)
	_ = planned("GET", "/v2/signal/changeSignal", Signal, anyLevel, EnvelopeA)
)
