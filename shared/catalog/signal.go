package catalog

// The planned endpoints of the family Signal: specified, without a handler yet.
var (
	// Lists the alerts of the calling account that went off.
	_ = planned("GET", "/v2/signal/signalAlert", Signal, anyLevel, EnvelopeA)
	// Lists the indicators and triggers that an alert may use.
	_ = planned("GET", "/v2/signal/signalAlertConf", Signal, anyLevel, EnvelopeA)
	// Sets up an alert for the calling account.
	_ = planned("GET", "/v2/signal/addSignalAlert", Signal, anyLevel, EnvelopeA)
	// Removes an alert of the calling account.
	_ = planned("GET", "/v2/signal/delSignalAlert", Signal, anyLevel, EnvelopeA)
	// Lists the alerts that the calling account set up.
	_ = planned("GET", "/v2/signal/getSignalAlertSetList", Signal, anyLevel, EnvelopeA)
	// Lists signals of strategies with their past success.
	_ = planned("GET", "/v2/signal/strategySignal", Signal, anyLevel, EnvelopeA)
	// Lists sudden changes of price and volume.
	_ = planned("GET", "/v2/signal/changeSignal", Signal, anyLevel, EnvelopeA)
)
