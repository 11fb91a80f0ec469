package stacks

import (
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsbudgets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatchactions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssnssubscriptions"
	"github.com/aws/jsii-runtime-go"

	"quotary/shared/aws/metrics"
	"quotary/shared/catalog"
	"quotary/shared/store/schema"
)

// watcher declares alarms, all of which notify one topic.
type watcher struct {
	*builder
	stack awscdk.Stack
	topic awssns.Topic
}

// alarm is a condition that a person should know of. Its name is its anchor in
// the guide: alarm-<name>.
type alarm struct {
	name, meaning string
	domain        string // of the ingester that it is of; "" for none, or all
	metric        awscloudwatch.IMetric
	threshold     float64
	below         bool // it is bad to be below, not above
	periods, of   int  // how many of the last periods must be bad
	silence       bool // no data is bad too
}

func (b *builder) watch(app awscdk.App) awscdk.Stack {
	stack := b.stack(app, "watch", "dashboard, alarms and budget")
	topic := awssns.NewTopic(stack, jsii.String("Alarms"), &awssns.TopicProps{
		TopicName: jsii.String(b.name("alarms")), EnforceSSL: jsii.Bool(true),
	})
	if b.AlarmEmail != "" {
		topic.AddSubscription(awssnssubscriptions.NewEmailSubscription(jsii.String(b.AlarmEmail), nil))
	}
	w := &watcher{b, stack, topic}
	w.gateway()
	for _, name := range b.functions() {
		w.function(name)
	}
	for _, table := range b.tableNames() {
		w.table(table)
	}
	w.ingesterAlarms()
	w.dashboard()
	if b.BudgetUSD > 0 {
		w.budget()
	}
	return stack
}

// functions are the names of the functions that serve somebody, sorted.
func (b *builder) functions() []string {
	return slices.DeleteFunc(catalog.AllFunctions(), func(name string) bool {
		switch b.declaration(name).InvokedBy {
		case catalog.Deployment:
			return true
		case catalog.Sockets:
			return len(b.feedAPIs) == 0
		default:
			return false
		}
	})
}

func (b *builder) tableNames() []string {
	var names []string
	for _, spec := range schema.Tables("") {
		names = append(names, spec.Name)
	}
	slices.Sort(names)
	return names
}

func (w *watcher) gateway() {
	w.alarm(alarm{
		name: "api-5xx", meaning: "More than 1 % of requests fail by the service's own fault.",
		metric: w.apiMetric("5XXError", "Average"), threshold: 0.01, periods: 2, of: 3,
	})
	w.alarm(alarm{
		name: "api-slow", meaning: "One request in a hundred takes more than two seconds.",
		metric: w.apiMetric("Latency", "p99"), threshold: 2000, periods: 3, of: 3,
	})
	// A refused signature is an error of the authorizer's function, by API
	// Gateway's rules. What is a fault of it shows in the access log alone.
	log := awslogs.LogGroup_FromLogGroupName(w.stack, jsii.String("AccessLog"), jsii.String("/aws/apigateway/"+w.name("api")))
	w.counted("Unauthorized", log, `{ $.error = "UNAUTHORIZED" }`)
	w.alarm(alarm{
		name: "authorizer", meaning: "The authorizer fails: requests are answered with 500 before a function sees them.",
		metric:    w.counted("AuthorizerFailures", log, `{ ($.error = "AUTHORIZER_FAILURE") || ($.error = "AUTHORIZER_CONFIGURATION_ERROR") }`),
		threshold: 0, periods: 2, of: 3,
	})
}

func (w *watcher) function(name string) {
	metric := w.lambdaMetric(name, "Throttles", "Sum")
	if w.declaration(name).InvokedBy != catalog.Authorizer { // whose errors are its refusals
		metric = awscloudwatch.NewMathExpression(&awscloudwatch.MathExpressionProps{
			Expression: jsii.String("errors + throttles"), Label: jsii.String(name), Period: minutes(5),
			UsingMetrics: &map[string]awscloudwatch.IMetric{
				"errors": w.lambdaMetric(name, "Errors", "Sum"), "throttles": metric,
			},
		})
	}
	w.alarm(alarm{
		name: "function-" + name, meaning: "The function crashes, runs out of time, or is throttled.",
		metric: metric, threshold: 0, periods: 2, of: 3,
	})
}

func (w *watcher) table(table string) {
	w.alarm(alarm{
		name: "table-" + table, meaning: "DynamoDB throttles the table: its insights name the hot key.",
		metric: awscloudwatch.NewMathExpression(&awscloudwatch.MathExpressionProps{
			Expression: jsii.String("reads + writes"), Label: jsii.String(table), Period: minutes(5),
			UsingMetrics: &map[string]awscloudwatch.IMetric{
				"reads": w.tableMetric(table, "ReadThrottleEvents"), "writes": w.tableMetric(table, "WriteThrottleEvents"),
			},
		}),
		threshold: 0, periods: 2, of: 3,
	})
}

func (w *watcher) ingesterAlarms() {
	perp := catalog.PerpDomain.Name
	if w.speaks(catalog.PerpDomain) {
		w.alarm(alarm{
			name: "ingester-silent", meaning: "No market data was written for ten minutes, though the venue never rests.",
			// Not the table's writes: the lease is renewed in it every second.
			metric: w.domainMetric(perp, metrics.RowsWritten, "Sum", 5), threshold: 1, below: true, periods: 2, of: 2, silence: true,
		})
	}
	for i, p := range w.places() {
		name := "ingester-down"
		if i > 0 {
			name = "ingester-fallback-down"
		}
		w.alarm(alarm{
			name: name, meaning: "Fewer ingesters run than should.",
			metric: w.ecsMetric(p, "ECS/ContainerInsights", "RunningTaskCount", "Maximum"), threshold: float64(p.tasks), below: true, periods: 2, of: 2, silence: true,
		})
	}
	if w.NodeDir != "" {
		w.alarm(alarm{
			name: "ingester-node", meaning: "No node is up to date: fills, orders and what is made of them stand still.",
			metric: w.domainMetric(perp, metrics.Rank, "Maximum", 1), threshold: 2, below: true, periods: 3, of: 3, silence: true,
		})
	}
	working := w.places()[0]
	w.alarm(alarm{
		name: "ingester-busy", meaning: "The ingester uses more than 80 % of its processor: soon it falls behind.",
		metric: w.ecsMetric(working, "AWS/ECS", "CPUUtilization", "Average"), threshold: 80, periods: 3, of: 3,
	})
	w.alarm(alarm{
		name: "ingester-memory", meaning: "The ingester uses more than 85 % of its memory: soon it is killed.",
		metric: w.ecsMetric(working, "AWS/ECS", "MemoryUtilization", "Maximum"), threshold: 85, periods: 3, of: 3,
	})
	for _, domain := range catalog.Domains {
		w.domainAlarms(domain)
	}
	w.feedAlarms()
	log := awslogs.LogGroup_FromLogGroupName(w.stack, jsii.String("IngesterLog"), jsii.String("/quotary/"+w.name("ingester")))
	w.alarm(alarm{
		name: "ingester-errors", meaning: "The ingester reports errors for ten minutes: the stores or the venue refuse it.",
		metric: w.counted("IngesterErrors", log, `{ $.level = "ERROR" }`), threshold: 0, periods: 2, of: 2,
	})
}

// domainAlarms are of what the ingester itself writes of a domain once a minute.
func (w *watcher) domainAlarms(d *catalog.Domain) {
	domain := d.Name
	w.alarm(alarm{
		name: "ingester-lease", domain: domain, meaning: "No ingester holds the lease: nobody writes this domain's data or serves its feeds.",
		metric: w.domainMetric(domain, metrics.LeaseHeld, "Maximum", 1), threshold: 1, below: true, periods: 3, of: 3, silence: true,
	})
	w.alarm(alarm{
		name: "ingester-stopped", domain: domain, meaning: "The stores refuse what this domain writes: nothing is lost, and nothing goes on.",
		metric: w.domainMetric(domain, metrics.Stopped, "Maximum", 1), threshold: 0, periods: 2, of: 3,
	})
	w.alarm(alarm{
		name: "ingester-quarantine", domain: domain, meaning: "Rows were left out because the stores call them invalid.",
		metric: w.domainMetric(domain, metrics.RowsQuarantined, "Sum", 5), threshold: 0, periods: 1, of: 1,
	})
	w.alarm(alarm{
		name: "ingester-catchup", domain: domain, meaning: "A new projection has been folded from the stored logs for more than a day, and is not complete.",
		metric: w.domainMetric(domain, metrics.ProjectionsCatchingUp, "Minimum", 60), threshold: 0, periods: 24, of: 24,
	})
	if d.Archives && w.Retention != "" {
		w.alarm(alarm{
			name: "ingester-archive", domain: domain, meaning: "A day of rows has waited for more than twelve hours to be archived: nothing is lost, and nothing of it expires.",
			metric: w.domainMetric(domain, metrics.ArchiveLag, "Minimum", 60), threshold: (12 * time.Hour).Seconds() * 1000, periods: 2, of: 2,
		})
	}
	if domain == catalog.PerpDomain.Name {
		w.alarm(alarm{
			name: "ingester-accounts", domain: domain, meaning: "An account that somebody follows has waited for a quarter of an hour for what the venue says of it.",
			metric: w.domainMetric(domain, metrics.AnchorWait, "Minimum", 5), threshold: (15 * time.Minute).Seconds() * 1000, periods: 2, of: 2,
		})
	}
	if domain == catalog.PerpDomain.Name && w.hours() {
		w.alarm(alarm{
			name: "hours-refused", domain: domain, meaning: "The bucket of the venue's hours refuses to be read: fills and ledgers of accounts stand still.",
			metric: w.domainMetric(domain, metrics.HoursRefused, "Minimum", 5), threshold: 0, periods: 2, of: 2,
		})
		w.alarm(alarm{
			name: "hours-passed", domain: domain, meaning: "An hour of the venue was missing or broken for six hours and is passed over: what accounts did in it comes when the venue publishes it.",
			metric: w.domainMetric(domain, metrics.HoursPassed, "Sum", 5), threshold: 0, periods: 1, of: 1,
		})
		w.alarm(alarm{
			name: "hours-behind", domain: domain, meaning: "The last hour of the venue that was read ended more than eight hours ago.",
			metric: w.domainMetric(domain, metrics.HoursBehind, "Minimum", 60), threshold: (8 * time.Hour).Seconds() * 1000, periods: 2, of: 2,
		})
	}
	if domain == catalog.ExchangeDomain.Name {
		w.alarm(alarm{
			name: "ingester-malformed", domain: domain, meaning: "For an hour exchanges have said what cannot be read, or refused what they were asked for: what is made of it stands still.",
			metric: w.domainMetric(domain, metrics.Malformed, "Sum", 5), threshold: 0, periods: 12, of: 12,
		})
	}
	if w.speaks(d) {
		w.alarm(alarm{
			name: "ingester-lag", domain: domain, meaning: "The newest event is more than 30 seconds old, five minutes long.",
			metric: w.domainMetric(domain, metrics.Lag, "Maximum", 1), threshold: 30_000, periods: 5, of: 5,
		})
		w.alarm(alarm{
			name: "ingester-source", domain: domain, meaning: "A source of market data says nothing, though it should all the time.",
			metric: w.domainMetric(domain, metrics.SilentSources, "Maximum", 1), threshold: 0, periods: 3, of: 3,
		})
	}
}

// speaks reports whether a domain follows a source that should never be silent.
func (w *watcher) speaks(d *catalog.Domain) bool {
	return slices.ContainsFunc(d.Settings, func(s *catalog.Setting) bool { return s.Live && w.domains[s.Name] != "" })
}

func (w *watcher) feedAlarms() {
	if len(w.feedAPIs) > 0 {
		w.alarm(alarm{
			name: "feeds-dropped", meaning: "More than 1 % of the frames are dropped because clients do not take them.",
			metric: awscloudwatch.NewMathExpression(&awscloudwatch.MathExpressionProps{
				Expression: jsii.String("100 * dropped / (dropped + sent)"), Label: jsii.String("dropped, %"), Period: minutes(5),
				UsingMetrics: &map[string]awscloudwatch.IMetric{
					"dropped": w.domainMetric(catalog.PerpDomain.Name, metrics.FramesDropped, "Sum", 5), "sent": w.domainMetric(catalog.PerpDomain.Name, metrics.FramesSent, "Sum", 5),
				},
			}),
			threshold: 1, periods: 2, of: 3,
		})
	}
}

func (w *watcher) alarm(a alarm) {
	comparison, missing := awscloudwatch.ComparisonOperator_GREATER_THAN_THRESHOLD, awscloudwatch.TreatMissingData_NOT_BREACHING
	if a.below {
		comparison = awscloudwatch.ComparisonOperator_LESS_THAN_THRESHOLD
	}
	if a.silence {
		missing = awscloudwatch.TreatMissingData_BREACHING
	}
	name := a.name
	if a.domain != "" {
		name += "-" + a.domain
	}
	made := awscloudwatch.NewAlarm(w.stack, jsii.String("Alarm-"+name), &awscloudwatch.AlarmProps{
		AlarmName:          jsii.String(w.name(name)),
		AlarmDescription:   jsii.String(a.meaning + " " + w.Runbook + "#alarm-" + a.name),
		Metric:             a.metric,
		Threshold:          jsii.Number(a.threshold),
		ComparisonOperator: comparison,
		DatapointsToAlarm:  jsii.Number(float64(a.periods)),
		EvaluationPeriods:  jsii.Number(float64(a.of)),
		TreatMissingData:   missing,
	})
	action := awscloudwatchactions.NewSnsAction(w.topic)
	made.AddAlarmAction(action)
	made.AddOkAction(action)
}

// counted makes a metric of the lines of a log that fit a pattern.
func (w *watcher) counted(name string, log awslogs.ILogGroup, pattern string) awscloudwatch.IMetric {
	filter := awslogs.NewMetricFilter(w.stack, jsii.String(name), &awslogs.MetricFilterProps{
		LogGroup: log, FilterPattern: awslogs.FilterPattern_Literal(jsii.String(pattern)),
		MetricNamespace: jsii.String(metrics.Namespace), MetricName: jsii.String(w.name(name)),
		MetricValue: jsii.String("1"), DefaultValue: jsii.Number(0),
	})
	return filter.Metric(&awscloudwatch.MetricOptions{Statistic: jsii.String("Sum"), Period: minutes(5)})
}

func (w *watcher) apiMetric(name, statistic string) awscloudwatch.IMetric {
	return metric("AWS/ApiGateway", name, statistic, map[string]string{"ApiName": w.name("api"), "Stage": catalog.Stage})
}

func (w *watcher) lambdaMetric(function, name, statistic string) awscloudwatch.IMetric {
	return metric("AWS/Lambda", name, statistic, map[string]string{"FunctionName": w.name(function)})
}

func (w *watcher) tableMetric(table, name string) awscloudwatch.IMetric {
	return metric("AWS/DynamoDB", name, "Sum", map[string]string{"TableName": w.tables() + table})
}

func (w *watcher) ecsMetric(p place, namespace, name, statistic string) awscloudwatch.IMetric {
	return metric(namespace, name, statistic, map[string]string{"ClusterName": w.name("ingester"), "ServiceName": w.name(p.service)})
}

// domainMetric is a metric that the ingester writes to its log of a domain.
func (w *watcher) domainMetric(domain, name, statistic string, period float64) awscloudwatch.IMetric {
	return awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
		Namespace: jsii.String(metrics.Namespace), MetricName: jsii.String(name), Statistic: jsii.String(statistic),
		DimensionsMap: &map[string]*string{metrics.Deployment: jsii.String(w.deployment()), metrics.Domain: jsii.String(domain)}, Period: minutes(period),
	})
}

// by finds the metrics of one name by their labels, given as CloudWatch
// lists them: separated by commas.
func (w *watcher) by(label, name, statistic string) awscloudwatch.IMetric {
	return awscloudwatch.NewMathExpression(&awscloudwatch.MathExpressionProps{
		Expression: jsii.String(fmt.Sprintf(`SEARCH('{%s,%s,%s} MetricName="%s" %s="%s"', '%s', 300)`,
			metrics.Namespace, metrics.Deployment, label, name, metrics.Deployment, w.deployment(), statistic)),
		Label: jsii.String(""), Period: minutes(5), UsingMetrics: &map[string]awscloudwatch.IMetric{},
	})
}

func metric(namespace, name, statistic string, dimensions map[string]string) awscloudwatch.IMetric {
	where := map[string]*string{}
	for key, value := range dimensions {
		where[key] = jsii.String(value)
	}
	return awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
		Namespace: jsii.String(namespace), MetricName: jsii.String(name), Statistic: jsii.String(statistic),
		DimensionsMap: &where, Period: minutes(5),
	})
}

func minutes(n float64) awscdk.Duration { return awscdk.Duration_Minutes(jsii.Number(n)) }

func (w *watcher) dashboard() {
	board := awscloudwatch.NewDashboard(w.stack, jsii.String("Dashboard"), &awscloudwatch.DashboardProps{
		DashboardName: jsii.String(w.name("overview")), DefaultInterval: awscdk.Duration_Hours(jsii.Number(12)),
	})
	graph := func(title string, metrics ...awscloudwatch.IMetric) awscloudwatch.IWidget {
		return awscloudwatch.NewGraphWidget(&awscloudwatch.GraphWidgetProps{
			Title: jsii.String(title), Left: &metrics, Width: jsii.Number(8), Height: jsii.Number(6),
		})
	}
	each := func(names []string, of func(string) awscloudwatch.IMetric) []awscloudwatch.IMetric {
		var all []awscloudwatch.IMetric
		for _, name := range names {
			all = append(all, of(name))
		}
		return all
	}
	counted := func(name string) awscloudwatch.IMetric { return metric(metrics.Namespace, w.name(name), "Sum", nil) }
	board.AddWidgets(
		graph("Requests", w.apiMetric("Count", "Sum"), w.apiMetric("4XXError", "Sum"), w.apiMetric("5XXError", "Sum")),
		graph("Latency, ms", w.apiMetric("Latency", "p50"), w.apiMetric("Latency", "p99"), w.apiMetric("IntegrationLatency", "p99")),
		graph("Refused signatures, authorizer failures", counted("Unauthorized"), counted("AuthorizerFailures")),
	)
	board.AddWidgets(
		graph("Duration of functions, ms, p99", each(w.functions(), func(f string) awscloudwatch.IMetric { return w.lambdaMetric(f, "Duration", "p99") })...),
		graph("Errors of functions", each(w.functions(), func(f string) awscloudwatch.IMetric { return w.lambdaMetric(f, "Errors", "Sum") })...),
		graph("Functions at one time", each(w.functions(), func(f string) awscloudwatch.IMetric { return w.lambdaMetric(f, "ConcurrentExecutions", "Maximum") })...),
	)
	board.AddWidgets(
		graph("Table reads, units", each(w.tableNames(), func(t string) awscloudwatch.IMetric { return w.tableMetric(t, "ConsumedReadCapacityUnits") })...),
		graph("Table writes, units", each(w.tableNames(), func(t string) awscloudwatch.IMetric { return w.tableMetric(t, "ConsumedWriteCapacityUnits") })...),
		graph("Ingester: processor and memory, %; errors", w.ecsMetric(w.places()[0], "AWS/ECS", "CPUUtilization", "Average"), w.ecsMetric(w.places()[0], "AWS/ECS", "MemoryUtilization", "Maximum"), counted("IngesterErrors")),
	)
	board.AddWidgets(
		graph("Behind the venue by source, ms", w.by(metrics.Domain+","+metrics.Source, metrics.Lag, "Maximum")),
		graph("Frames: sent, dropped, waiting", w.domainMetric(catalog.PerpDomain.Name, metrics.FramesSent, "Sum", 5), w.domainMetric(catalog.PerpDomain.Name, metrics.FramesDropped, "Sum", 5), w.domainMetric(catalog.PerpDomain.Name, metrics.FramesWaiting, "Maximum", 5)),
		graph("Leases: held, taken; silent sources", w.by(metrics.Domain, metrics.LeaseHeld, "Maximum"), w.by(metrics.Domain, metrics.LeaseTaken, "Sum"), w.by(metrics.Domain, metrics.SilentSources, "Maximum")),
		graph("Domains: stopped, rows quarantined, queued", w.by(metrics.Domain, metrics.Stopped, "Maximum"), w.by(metrics.Domain, metrics.RowsQuarantined, "Sum"), w.by(metrics.Domain, metrics.Queued, "Maximum")),
		graph("Rows archived, ms behind", w.by(metrics.Domain, metrics.RowsArchived, "Sum"), w.by(metrics.Domain, metrics.ArchiveLag, "Maximum")),
		graph("Accounts that wait for the venue, ms; not asked about", w.by(metrics.Domain, metrics.AnchorWait, "Maximum"), w.by(metrics.Domain, metrics.AccountPollWait, "Maximum"), w.by(metrics.Domain, metrics.AccountsNotAsked, "Sum"), w.by(metrics.Function, metrics.AccountsNotAsked, "Sum")),
		graph("Projections that catch up", w.by(metrics.Domain, metrics.ProjectionsCatchingUp, "Maximum")),
		graph("Not readable by source", w.by(metrics.Domain+","+metrics.Source, metrics.Malformed, "Sum")),
	)
	board.AddWidgets(
		graph("Denials by reason", w.by(metrics.Reason, metrics.Denials, "Sum")),
		graph("Cold starts", w.by(metrics.Function, metrics.ColdStarts, "Sum")),
		graph("Answers of 500", w.by(metrics.Function, metrics.Faults, "Sum")),
	)
}

// budget warns when a month becomes dearer than planned. Budgets are of the
// whole account: tags would have to be activated for billing first.
func (w *watcher) budget() {
	warnings := []any{}
	for _, percent := range []float64{80, 100} {
		warnings = append(warnings, &awsbudgets.CfnBudget_NotificationWithSubscribersProperty{
			Notification: &awsbudgets.CfnBudget_NotificationProperty{
				ComparisonOperator: jsii.String("GREATER_THAN"), NotificationType: jsii.String("ACTUAL"), Threshold: jsii.Number(percent), ThresholdType: jsii.String("PERCENTAGE"),
			},
			Subscribers: []any{&awsbudgets.CfnBudget_SubscriberProperty{Address: jsii.String(w.AlarmEmail), SubscriptionType: jsii.String("EMAIL")}},
		})
	}
	awsbudgets.NewCfnBudget(w.stack, jsii.String("Budget"), &awsbudgets.CfnBudgetProps{
		Budget: &awsbudgets.CfnBudget_BudgetDataProperty{
			BudgetName: jsii.String(w.name("month")), BudgetType: jsii.String("COST"), TimeUnit: jsii.String("MONTHLY"),
			BudgetLimit: &awsbudgets.CfnBudget_SpendProperty{Amount: jsii.Number(float64(w.BudgetUSD)), Unit: jsii.String("USD")},
		},
		NotificationsWithSubscribers: warnings,
	})
}
