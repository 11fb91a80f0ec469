package stack

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"quotary/localstack/aws/lambdahost"
	"quotary/shared/catalog"
)

// environmentOf returns what a function gets: of the stack's settings those that its
// program declares to read, and the endpoints of AWS.
func (s State) environmentOf(p catalog.Program) []string {
	reads := map[string]bool{}
	for _, name := range p.Environment() {
		reads[name] = true
	}
	reads[catalog.EnvDataKeysFile] = reads[catalog.EnvDataKeys]
	return slices.DeleteFunc(s.Environment(), func(setting string) bool {
		name, _, _ := strings.Cut(setting, "=")
		return strings.HasPrefix(name, "QUOTARY_") && !reads[name]
	})
}

// Environment returns what every program of the product gets, to run one beside
// the stack.
func (s State) Environment() []string {
	return []string{
		"AWS_REGION=" + region,
		"AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local",
		"AWS_EC2_METADATA_DISABLED=true",
		"AWS_ENDPOINT_URL_DYNAMODB=" + s.DynamoDB,
		"AWS_ENDPOINT_URL_DYNAMODB_STREAMS=" + s.DynamoDB,
		"AWS_ENDPOINT_URL_S3=" + s.S3,
		catalog.EnvTablePrefix + "=" + s.Tables,
		catalog.EnvViewsBucket + "=" + viewsBucket,
		catalog.EnvRetention + "=" + s.Retention,
		catalog.EnvDataKeysFile + "=" + keyFile(s.DataDir),
		catalog.EnvSpoolDir.Name + "=" + filepath.Join(s.DataDir, "spool"),
		catalog.EnvHyperliquidURL.Name + "=" + s.FollowsURL,
	}
}

// startFunctions opens the host of the functions; a process starts with the
// first invocation that needs it.
func (s *Stack) startFunctions(context.Context) error {
	logs, err := s.logFile("functions")
	if err != nil {
		return err
	}
	functions := make(map[string]lambdahost.Function)
	for _, p := range catalog.Programs() {
		if p.InvokedBy == catalog.Nobody || p.DataKey { // data keys lie in a file here
			continue
		}
		program := s.program(p.Name)
		if _, err := os.Stat(program); err != nil {
			return fmt.Errorf("the program %s is not built: run make build (%w)", p.Name, err)
		}
		functions[p.Name] = lambdahost.Function{
			Path: program, MaxInstances: s.cfg.MaxEach,
			Env: append(s.State.environmentOf(p), s.cfg.FunctionEnv...),
		}
	}
	host, err := lambdahost.New(lambdahost.Config{Functions: functions, Logs: logs, Log: s.log, Region: region})
	if err != nil {
		return err
	}
	s.onStop(host.Close)
	s.host = host
	listener, err := s.listen(offsetLambda)
	if err != nil {
		return err
	}
	s.State.LambdaURL = "http://" + listener.Addr().String()
	s.serve(listener, host.InvokeAPI())
	return nil
}
