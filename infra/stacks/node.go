package stacks

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsecs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"
)

// nodeMount is where an ingester sees the output of the node on its host.
const nodeMount = "/node"

// besideNodes runs the ingesters on instances of the cluster that the operator
// brings, each with a node of the venue: what a node writes is read from the disk
// that it is written to, within milliseconds.
func (b *builder) besideNodes(stack awscdk.Stack, cluster awsecs.Cluster, p place, role awsiam.Role, container *awsecs.ContainerDefinitionOptions) {
	task := awsecs.NewEc2TaskDefinition(stack, jsii.String("NodeTask"), &awsecs.Ec2TaskDefinitionProps{
		Family: jsii.String(b.name("ingester-node")), TaskRole: role,
		NetworkMode: awsecs.NetworkMode_BRIDGE, // two may meet on a host while one is replaced
		Volumes:     &[]*awsecs.Volume{{Name: jsii.String("node"), Host: &awsecs.Host{SourcePath: jsii.String(p.node)}}},
	})
	container.Cpu, container.MemoryLimitMiB = jsii.Number(float64(b.IngesterCPU)), jsii.Number(float64(b.IngesterMemory))
	task.AddContainer(jsii.String("ingester"), container).AddMountPoints(&awsecs.MountPoint{
		SourceVolume: jsii.String("node"), ContainerPath: jsii.String(nodeMount), ReadOnly: jsii.Bool(true),
	})
	explainTask(task)
	service := awsecs.NewCfnService(stack, jsii.String("NodeService"), &awsecs.CfnServiceProps{
		Cluster: cluster.ClusterArn(), ServiceName: jsii.String(b.name(p.service)), LaunchType: jsii.String("EC2"),
		TaskDefinition: task.TaskDefinitionArn(), DesiredCount: jsii.Number(float64(p.tasks)), PropagateTags: jsii.String("SERVICE"),
		PlacementStrategies: []any{&awsecs.CfnService_PlacementStrategyProperty{Type: jsii.String("spread"), Field: jsii.String("instanceId")}},
		DeploymentConfiguration: &awsecs.CfnService_DeploymentConfigurationProperty{
			MinimumHealthyPercent: jsii.Number(100), MaximumPercent: jsii.Number(200), // as on Fargate
			DeploymentCircuitBreaker: &awsecs.CfnService_DeploymentCircuitBreakerProperty{Enable: jsii.Bool(true), Rollback: jsii.Bool(true)},
		},
	})
	service.OverrideLogicalId(jsii.String("IngesterNodeService"))
}

// hostProfile is what the agent on a host may do: have it be an instance of the
// cluster, and report what runs there. The ingester has a role of its own.
func (b *builder) hostProfile(stack awscdk.Stack) {
	cluster := sub("arn:${AWS::Partition}:ecs:${AWS::Region}:${AWS::AccountId}:cluster/" + b.name("ingester"))
	instances := sub("arn:${AWS::Partition}:ecs:${AWS::Region}:${AWS::AccountId}:container-instance/" + b.name("ingester") + "/*")
	document := awsiam.NewPolicyDocument(nil)
	allow := func(sid string, resource *string, actions ...string) {
		document.AddStatements(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
			Sid: jsii.String(sid), Actions: jsii.Strings(prefixed("ecs:", actions)...), Resources: &[]*string{resource},
		}))
	}
	allow("Discover", jsii.String("*"), "DiscoverPollEndpoint")
	allow("Join", cluster, "DeregisterContainerInstance", "RegisterContainerInstance",
		"SubmitAttachmentStateChanges", "SubmitContainerStateChange", "SubmitTaskStateChange")
	allow("Work", instances, "Poll", "StartTelemetrySession", "UpdateContainerInstancesState")
	role := awsiam.NewRole(stack, jsii.String("NodeHostRole"), &awsiam.RoleProps{
		AssumedBy:      awsiam.NewServicePrincipal(jsii.String("ec2.amazonaws.com"), nil),
		Description:    jsii.String("What the agent on a host with a node may do"),
		InlinePolicies: &map[string]awsiam.PolicyDocument{"rights": document},
	})
	rename(role, "NodeHostRole")
	accept(role, "AwsSolutions-IAM5", "The address to poll is asked before there is an instance: its action knows no resource.", "Resource::*")
	accept(role, "AwsSolutions-IAM5", "An instance is named when it joins: the right is for those of this one cluster.",
		`/^Resource::arn:.*:ecs:.*:container-instance\/quotary-.*\/\*$/`)
	profile := awsiam.NewCfnInstanceProfile(stack, jsii.String("NodeHostProfile"), &awsiam.CfnInstanceProfileProps{
		InstanceProfileName: jsii.String(b.name("node-host")), Roles: &[]any{role.RoleName()},
	})
	awscdk.NewCfnOutput(stack, jsii.String("NodeHostProfileName"), &awscdk.CfnOutputProps{
		Value: profile.Ref(), Description: jsii.String("Instance profile of hosts with a node"),
	})
}
