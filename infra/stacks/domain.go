package stacks

import (
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscertificatemanager"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsroute53"
	"github.com/aws/jsii-runtime-go"
)

// domain is a name of the operator's own with what answers under it.
type domain struct {
	name        string
	certificate string // ARN, or "" for a new one
	mappings    []mapping
}

type mapping struct {
	key        string // path without a slash at its ends
	api, stage *string
}

// domain declares the name, its certificate and DNS record where the operator
// named a hosted zone, and the mappings. Without a zone the operator points
// the name at the output Target.
func (b *builder) domain(stack awscdk.Stack, d domain) {
	var zone awsroute53.IHostedZone
	if b.ZoneID != "" {
		zone = awsroute53.HostedZone_FromHostedZoneAttributes(stack, jsii.String("Zone"), &awsroute53.HostedZoneAttributes{
			HostedZoneId: jsii.String(b.ZoneID), ZoneName: jsii.String(b.ZoneName),
		})
	}
	certificate := jsii.String(d.certificate)
	if d.certificate == "" {
		certificate = awscertificatemanager.NewCertificate(stack, jsii.String("Certificate"), &awscertificatemanager.CertificateProps{
			DomainName: jsii.String(d.name), Validation: awscertificatemanager.CertificateValidation_FromDns(zone),
		}).CertificateArn()
	}
	name := awsapigatewayv2.NewCfnDomainName(stack, jsii.String("Domain"), &awsapigatewayv2.CfnDomainNameProps{
		DomainName: jsii.String(d.name),
		DomainNameConfigurations: []any{&awsapigatewayv2.CfnDomainName_DomainNameConfigurationProperty{
			CertificateArn: certificate, EndpointType: jsii.String("REGIONAL"), SecurityPolicy: jsii.String("TLS_1_2"),
		}},
	})
	for _, m := range d.mappings {
		awsapigatewayv2.NewCfnApiMapping(stack, jsii.String("Mapping-"+strings.ReplaceAll(m.key, "/", "-")), &awsapigatewayv2.CfnApiMappingProps{
			ApiId: m.api, Stage: m.stage, DomainName: name.Ref(), ApiMappingKey: jsii.String(m.key),
		})
	}
	if zone != nil {
		awsroute53.NewCfnRecordSet(stack, jsii.String("Record"), &awsroute53.CfnRecordSetProps{
			HostedZoneId: jsii.String(b.ZoneID), Name: jsii.String(d.name), Type: jsii.String("A"),
			AliasTarget: &awsroute53.CfnRecordSet_AliasTargetProperty{
				DnsName: name.AttrRegionalDomainName(), HostedZoneId: name.AttrRegionalHostedZoneId(),
			},
		})
	}
	awscdk.NewCfnOutput(stack, jsii.String("Target"), &awscdk.CfnOutputProps{
		Value: name.AttrRegionalDomainName(), Description: jsii.String("where the DNS record of " + d.name + " points"),
	})
}
