// The CDK app of Quotary. docs/operate is the operator's guide; package stacks
// holds everything that is deployed.
package main

import (
	"fmt"
	"os"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"quotary/infra/stacks"
)

func main() {
	if err := synthesize(); err != nil {
		fmt.Fprintln(os.Stderr, "quotary:", err)
		os.Exit(1)
	}
}

func synthesize() error {
	defer jsii.Close()
	app := awscdk.NewApp(nil)
	settings, err := stacks.Read(app.Node())
	if err != nil {
		return err
	}
	if err := stacks.Build(app, settings); err != nil {
		return err
	}
	stacks.Check(app)
	app.Synth(nil)
	return nil
}
