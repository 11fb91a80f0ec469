// Package stacks is everything that a deployment of Quotary consists of.
//
// [Build] makes five stacks from [Settings], and a sixth where it is asked for:
//
//	<name>-data      tables, bucket of views, the key that wraps data keys, the first of these
//	<name>-api       the REST API with its functions and the authorizer
//	<name>-feeds     the four WebSocket APIs with their function
//	<name>-ingester  the program that follows the sources, on Fargate or beside nodes
//	<name>-watch     dashboard, alarms, budget
//	<name>-athena    tables over the archive and the trader table for Athena, with the setting athena
//
// They know each other by names, which all begin with <name>-, and hardly by
// references: a stack can be deployed, rolled back or replaced without its
// neighbors. What each program may do is what it declares in the
// product's own catalog; what the gateway serves comes from the product's own catalog, and the tables from its
// own schema, so that neither can differ from what the programs expect.
package stacks

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/jsii-runtime-go"

	"quotary/shared/catalog"
)

// Build adds the stacks of a deployment to the app. It fails when a program is
// not built.
//
// The feeds are left out, with a warning, while their function does not exist.
func Build(app awscdk.App, s Settings) error {
	if err := s.check(); err != nil {
		return err
	}
	b := &builder{Settings: s}
	data := b.data(app)
	api := b.api(app)
	api.AddStackDependency(data, nil)
	ingesterNeeds := []awscdk.Stack{data}
	switch _, err := b.program(catalog.FunctionSocket); {
	case err == nil:
		feeds := b.feeds(app)
		feeds.AddStackDependency(api, nil)
		ingesterNeeds = append(ingesterNeeds, feeds)
	case errors.Is(err, errNotBuilt):
		awscdk.Annotations_Of(api).AddWarningV2(jsii.String("quotary:feeds"),
			jsii.String("the WebSocket feeds are left out: "+err.Error()))
	default:
		return err
	}
	ingester := b.ingester(app)
	for _, needed := range ingesterNeeds {
		ingester.AddStackDependency(needed, nil)
	}
	if b.Athena {
		b.athena(app).AddStackDependency(data, nil)
	}
	watch := b.watch(app)
	watch.AddStackDependency(api, nil)
	watch.AddStackDependency(ingester, nil)
	for key, value := range map[string]string{"project": "quotary", "environment": s.Env} {
		awscdk.Tags_Of(app).Add(jsii.String(key), jsii.String(value), &awscdk.TagProps{
			ExcludeResourceTypes: jsii.PtrSlice("AWS::CloudWatch::Dashboard"), // not every region can tag one
		})
	}
	return errors.Join(b.faults...)
}

// builder carries what the stacks share while they are made.
type builder struct {
	Settings
	feedAPIs   []feedAPI
	secretsKey awskms.IKey
	faults     []error
}

func (b *builder) stack(app awscdk.App, part, description string) awscdk.Stack {
	return awscdk.NewStack(app, jsii.String(b.name(part)), &awscdk.StackProps{
		Description:           jsii.String("Quotary " + b.Env + ": " + description),
		TerminationProtection: jsii.Bool(b.Keep),
	})
}

var errNotBuilt = errors.New("is not built")

// program returns the folder of a function's program.
func (b *builder) program(function string) (string, error) {
	dir := filepath.Join(b.Assets, "lambda", function)
	if _, err := os.Stat(filepath.Join(dir, "bootstrap")); err != nil {
		return "", fmt.Errorf("the function %s %w: run make package (%s has no bootstrap)", function, errNotBuilt, dir)
	}
	return dir, nil
}

// sub is text with CloudFormation's ${...} in it. In the template it is one
// readable line, and tests compare it as it stands.
func sub(text string) *string {
	if !strings.Contains(text, "${") {
		return jsii.String(text)
	}
	return awscdk.Fn_Sub(jsii.String(text), nil)
}

// removal keeps data, or lets it go with its stack.
func (b *builder) removal() awscdk.RemovalPolicy {
	if b.Keep {
		return awscdk.RemovalPolicy_RETAIN
	}
	return awscdk.RemovalPolicy_DESTROY
}

// removalOnceMade keeps what a deployed stack has. A first deployment that fails
// takes what it had made with it, so that the next one does not find the names taken.
func (b *builder) removalOnceMade() awscdk.RemovalPolicy {
	if b.Keep {
		return awscdk.RemovalPolicy_RETAIN_ON_UPDATE_OR_DELETE
	}
	return awscdk.RemovalPolicy_DESTROY
}

// logicalID is the name of a function in the template: perp-fills is
// PerpFillsFunction.
func logicalID(function string) string { return title(function) + "Function" }

// rename gives a construct's resource a logical id that does not change when
// the code around it moves: data would be replaced.
func rename(resource awscdk.IResource, id string) {
	resource.Node().DefaultChild().(awscdk.CfnResource).OverrideLogicalId(jsii.String(id))
}
