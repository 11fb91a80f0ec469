package stacks

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsecrassets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsecs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"

	"quotary/shared/catalog"
)

// healthAddress is where the ingester answers its health check, inside its
// task only.
const healthAddress = "127.0.0.1:8080"

// place is where ingesters run.
type place struct {
	service  string // its name, without the deployment's
	image    string // construct and folder of it
	platform awsecrassets.Platform
	node     string // folder of a node's output, "" without
	tasks    int
}

// places are those of this deployment, the one that is to work first. Hosts with a
// node have the processor that the node's program is made for.
func (b *builder) places() []place {
	fargate := place{"ingester", catalog.ProgramIngester, awsecrassets.Platform_LINUX_ARM64(), "", b.IngesterTasks}
	if b.NodeDir == "" {
		return []place{fargate}
	}
	hosts := place{"ingester-node", catalog.ProgramIngester + "-amd64", awsecrassets.Platform_LINUX_AMD64(), b.NodeDir, b.IngesterTasks}
	if fargate.tasks = b.FallbackTasks; fargate.tasks == 0 {
		return []place{hosts}
	}
	return []place{hosts, fargate}
}

func (b *builder) ingester(app awscdk.App) awscdk.Stack {
	stack := b.stack(app, "ingester", "follows the sources")
	for _, p := range b.places() {
		image := filepath.Join(b.Assets, "image", p.image)
		if _, err := os.Stat(filepath.Join(image, "Dockerfile")); err != nil {
			b.faults = append(b.faults, fmt.Errorf("the ingester %w: run make package (%s has no Dockerfile)", errNotBuilt, image))
			return stack
		}
	}
	vpc := b.network(stack)
	cluster := awsecs.NewCluster(stack, jsii.String("Cluster"), &awsecs.ClusterProps{
		Vpc: vpc, ClusterName: jsii.String(b.name("ingester")), ContainerInsightsV2: awsecs.ContainerInsights_ENABLED,
	})
	role, logs := b.ingesterRole(stack), b.logs(stack, "IngesterLogs", "/quotary/"+b.name("ingester"))
	for _, p := range b.places() {
		container := b.container(stack, p, logs)
		if p.node != "" {
			b.besideNodes(stack, cluster, p, role, container)
		} else {
			b.onFargate(stack, cluster, vpc, p, role, container)
		}
	}
	if b.NodeHosts || b.NodeDir != "" {
		b.hostProfile(stack)
	}
	b.sayAccounts(stack)
	return stack
}

// sayAccounts says what fills the endpoints of accounts, and what it takes where nothing does.
func (b *builder) sayAccounts(stack awscdk.Stack) {
	var from string
	switch {
	case b.NodeDir != "":
		from = "the files of a node, see nodeDir"
	case b.hours():
		from = "the hours that the venue publishes, see accounts=" + catalog.AccountsOfHours
	case b.domains[catalog.EnvAccounts.Name] == catalog.AccountsLive:
		from = "public trades as they happen, without orders, fees, ledgers and funding; " +
			"accounts=" + catalog.AccountsOfHours + " also reads the hours that the venue publishes, which have these"
	default:
		from = "nothing: -c accounts=" + catalog.AccountsOfHours + " makes public trades fills at once and reads the hours that the venue publishes, an hour or two late, " +
			"for some 2,100 USD a month of writes at 10 million fills a day and 300,000 open positions, accounts=" + catalog.AccountsLive + " the former alone for some 380; without either the endpoints of accounts answer 503"
	}
	awscdk.NewCfnOutput(stack, jsii.String("Accounts"), &awscdk.CfnOutputProps{
		Value: jsii.String(from), Description: jsii.String("what fills fills, ledgers, funding and positions of accounts"),
	})
}

func (b *builder) onFargate(stack awscdk.Stack, cluster awsecs.Cluster, vpc awsec2.Vpc, p place, role awsiam.Role, container *awsecs.ContainerDefinitionOptions) {
	// Reached by nobody: every connection is the task's own.
	nobody := awsec2.NewSecurityGroup(stack, jsii.String("Group"), &awsec2.SecurityGroupProps{
		Vpc: vpc, AllowAllOutbound: jsii.Bool(true), Description: jsii.String("Ingester: out only"),
	})
	task := awsecs.NewFargateTaskDefinition(stack, jsii.String("Task"), &awsecs.FargateTaskDefinitionProps{
		Family: jsii.String(b.name("ingester")), Cpu: jsii.Number(float64(b.IngesterCPU)), MemoryLimitMiB: jsii.Number(float64(b.IngesterMemory)),
		RuntimePlatform: &awsecs.RuntimePlatform{CpuArchitecture: awsecs.CpuArchitecture_ARM64(), OperatingSystemFamily: awsecs.OperatingSystemFamily_LINUX()},
		TaskRole:        role,
	})
	task.AddContainer(jsii.String("ingester"), container)
	explainTask(task)
	service := awsecs.NewFargateService(stack, jsii.String("Service"), &awsecs.FargateServiceProps{
		Cluster:        cluster,
		ServiceName:    jsii.String(b.name(p.service)),
		TaskDefinition: task,
		DesiredCount:   jsii.Number(float64(p.tasks)),
		AssignPublicIp: jsii.Bool(true), // there is no NAT gateway to go out through
		VpcSubnets:     &awsec2.SubnetSelection{SubnetType: awsec2.SubnetType_PUBLIC},
		SecurityGroups: &[]awsec2.ISecurityGroup{nobody},
		PropagateTags:  awsecs.PropagatedTagSource_SERVICE,
		CircuitBreaker: &awsecs.DeploymentCircuitBreaker{Enable: jsii.Bool(true), Rollback: jsii.Bool(true)},
		// New tasks stand by until an old one stops, which releases its lease at
		// once: at no time are there fewer than should run.
		MinHealthyPercent: jsii.Number(100),
		MaxHealthyPercent: jsii.Number(200),
	})
	service.Node().DefaultChild().(awscdk.CfnResource).OverrideLogicalId(jsii.String("IngesterService"))
}

// network is public subnets in two zones, with private ways to DynamoDB and S3.
func (b *builder) network(stack awscdk.Stack) awsec2.Vpc {
	vpc := awsec2.NewVpc(stack, jsii.String("Network"), &awsec2.VpcProps{
		IpAddresses: awsec2.IpAddresses_Cidr(jsii.String("10.0.0.0/24")),
		MaxAzs:      jsii.Number(2),
		NatGateways: jsii.Number(0),
		SubnetConfiguration: &[]*awsec2.SubnetConfiguration{{
			Name: jsii.String("public"), SubnetType: awsec2.SubnetType_PUBLIC, MapPublicIpOnLaunch: jsii.Bool(false),
		}},
		RestrictDefaultSecurityGroup: jsii.Bool(false), // nothing is in it
		GatewayEndpoints: &map[string]*awsec2.GatewayVpcEndpointOptions{
			"DynamoDB": {Service: awsec2.GatewayVpcEndpointAwsService_DYNAMODB()},
			"S3":       {Service: awsec2.GatewayVpcEndpointAwsService_S3()},
		},
	})
	accept(vpc, "AwsSolutions-VPC7", "The only thing in this network is the ingester, whom no security group lets anybody reach: a log of its connections to the venue would be paid for by the gigabyte and read by nobody.")
	return vpc
}

func (b *builder) ingesterRole(stack awscdk.Stack) awsiam.Role {
	p := b.declaration(catalog.ProgramIngester)
	rights := b.policy(p, nil)
	b.readHours(rights)
	role := awsiam.NewRole(stack, jsii.String("IngesterRole"), &awsiam.RoleProps{
		AssumedBy:      awsiam.NewServicePrincipal(jsii.String("ecs-tasks.amazonaws.com"), nil),
		Description:    jsii.String("What the ingester may do"),
		InlinePolicies: &map[string]awsiam.PolicyDocument{"rights": rights},
	})
	rename(role, "IngesterRole")
	explain(role, p)
	if b.hours() {
		accept(role, "AwsSolutions-IAM5", "The venue's hours are objects below two prefixes of its bucket, a new one every hour.",
			`/^Resource::arn:.*:s3:::.*\/(node_fills|misc_events)_by_block\/hourly\/\*$/`)
	}
	return role
}

// hours reports whether the hours that the venue publishes are read.
func (b *builder) hours() bool {
	return b.domains[catalog.EnvAccounts.Name] == catalog.AccountsOfHours
}

// readHours allows to read the bucket of the venue's hours, which is not the deployment's own, where they are read.
func (b *builder) readHours(rights awsiam.PolicyDocument) {
	if !b.hours() {
		return
	}
	bucket := "arn:${AWS::Partition}:s3:::" + b.domains[catalog.EnvHoursBucket.Name]
	allow := func(sid, action string, resources ...*string) {
		rights.AddStatements(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{Sid: jsii.String(sid), Actions: jsii.Strings(action), Resources: &resources}))
	}
	allow("VenueHours", "s3:GetObject", sub(bucket+"/node_fills_by_block/hourly/*"), sub(bucket+"/misc_events_by_block/hourly/*"))
	allow("VenueHoursThatAreThere", "s3:ListBucket", sub(bucket))
}

// memoryShare is the part of a task's memory, in percent, beyond which its program collects
// garbage all the time: without it memory that is no longer used would end the task.
const memoryShare = 80

// container is the ingester's, on Fargate and on hosts.
func (b *builder) container(stack awscdk.Stack, p place, logs awslogs.ILogGroup) *awsecs.ContainerDefinitionOptions {
	env := *b.environment(b.declaration(catalog.ProgramIngester), stack)
	env["AWS_REGION"] = stack.Region() // which Lambda sets by itself
	env["GOMEMLIMIT"] = jsii.String(fmt.Sprintf("%dMiB", b.IngesterMemory*memoryShare/100))
	for name, value := range b.domains {
		env[name] = jsii.String(value)
	}
	if b.NodeDir != "" && p.node == "" { // who stands by for it: public trades would take the place of what it has stored
		env[catalog.EnvAccounts.Name] = jsii.String(catalog.AccountsOff)
	}
	if p.node != "" {
		env[catalog.EnvNodeDir.Name], env[catalog.EnvOrders.Name] = jsii.String(nodeMount), jsii.String(b.Orders)
	}
	return &awsecs.ContainerDefinitionOptions{
		Image: awsecs.ContainerImage_FromDockerImageAsset(awsecrassets.NewDockerImageAsset(stack, jsii.String("Image-"+p.image), &awsecrassets.DockerImageAssetProps{
			Directory: jsii.String(filepath.Join(b.Assets, "image", p.image)), Platform: p.platform,
		})),
		Environment:            &env,
		ReadonlyRootFilesystem: jsii.Bool(true),
		Logging: awsecs.LogDriver_AwsLogs(&awsecs.AwsLogDriverProps{
			StreamPrefix: jsii.String("ingester"), LogGroup: logs,
			// A full buffer must not stall the program: lines are dropped instead.
			Mode: awsecs.AwsLogDriverMode_NON_BLOCKING, MaxBufferSize: awscdk.Size_Mebibytes(jsii.Number(4)),
		}),
		HealthCheck: &awsecs.HealthCheck{
			Command:     jsii.Strings("CMD", "/healthcheck", "http://"+healthAddress+"/healthz"),
			Interval:    awscdk.Duration_Seconds(jsii.Number(10)),
			Timeout:     awscdk.Duration_Seconds(jsii.Number(5)),
			Retries:     jsii.Number(3),
			StartPeriod: awscdk.Duration_Seconds(jsii.Number(30)),
		},
		StopTimeout: awscdk.Duration_Seconds(jsii.Number(60)), // what is in memory is written first
	}
}

func explainTask(task awsecs.TaskDefinition) {
	accept(task, "AwsSolutions-ECS2", "The settings of the ingester are names and addresses: none is secret.")
	if execution := task.ExecutionRole(); execution != nil {
		accept(execution, "AwsSolutions-IAM5", "A login to the registry is not for any one repository; the right to pull is.", "Resource::*")
	}
}
