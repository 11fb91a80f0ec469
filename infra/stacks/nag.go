package stacks

import (
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
	"github.com/cdklabs/cdk-nag-go/cdknag/v2"
)

// Check adds the AwsSolutions rules to the app: a finding that [accept] does
// not explain fails the synthesis.
func Check(app awscdk.App) {
	awscdk.Aspects_Of(app).Add(cdknag.NewAwsSolutionsChecks(&cdknag.NagPackProps{Verbose: jsii.Bool(true)}), nil)
}

// accept explains why a rule is not followed at a construct and below. A rule
// about wildcards names the findings that are meant, each as the rule shows it
// or as a regular expression between slashes.
func accept(at constructs.IConstruct, rule, reason string, findings ...string) {
	suppression := &cdknag.NagPackSuppression{Id: jsii.String(rule), Reason: jsii.String(reason)}
	if len(findings) > 0 {
		list := make([]any, len(findings))
		for i, finding := range findings {
			list[i] = finding
			if strings.HasPrefix(finding, "/") {
				list[i] = &cdknag.RegexAppliesTo{Regex: jsii.String(finding)}
			}
		}
		suppression.AppliesTo = &list
	}
	cdknag.NagSuppressions_AddResourceSuppressions(at, &[]*cdknag.NagPackSuppression{suppression}, jsii.Bool(true))
}
