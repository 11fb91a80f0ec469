package stacks_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"quotary/shared/catalog"
	"quotary/shared/store/schema"
)

// statements are those of all policies of a role.
func statements(role *resource) []any {
	var all []any
	for _, p := range listed(role.Properties["Policies"]) {
		all = append(all, listed(at(p, "PolicyDocument", "Statement"))...)
	}
	return all
}

// short writes a resource of a right as people would.
func short(arn string) string {
	arn = regexp.MustCompile(`^arn:\$\{AWS::Partition\}:([a-z0-9-]+):(\$\{AWS::Region\})?:(\$\{AWS::AccountId\})?:`).ReplaceAllString(arn, "$1 ")
	arn = strings.ReplaceAll(arn, "quotary-prod-", "")
	arn = strings.ReplaceAll(arn, "-${AWS::AccountId}-${AWS::Region}", "")
	arn = regexp.MustCompile(`\$\{data:ExportsOutput[A-Za-z]*SecretsKeyArn[0-9A-F]*\}`).ReplaceAllString(arn, "kms SecretsKey")
	arn = strings.ReplaceAll(arn, "${SecretsKey.Arn}", "kms SecretsKey")
	return regexp.MustCompile(`\$\{feeds:ExportsOutputRef([A-Za-z]*Feed)[0-9A-F]*\}`).ReplaceAllString(arn, "$${$1}")
}

// What each program may do, by the names of what it may do it to: the review
// of a change of rights is the change of this file.
func TestEachProgramHasItsRightsAndNoOther(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, part := range []string{"data", "api", "feeds", "ingester"} {
		ids, roles := full.parts[part].all("AWS::IAM::Role")
		for _, id := range ids {
			all := statements(roles[id])
			if len(all) == 0 {
				continue
			}
			fmt.Fprintf(&b, "%s\n", strings.TrimSuffix(id, "Role"))
			writeRights(t, &b, id, all)
		}
	}
	asking := full.parts["athena"].only(t, "AWS::IAM::ManagedPolicy").Properties
	b.WriteString("who asks with Athena\n")
	writeRights(t, &b, "the policy", listed(at(asking, "PolicyDocument", "Statement")))
	if asking["Roles"] != nil || asking["Users"] != nil || asking["Groups"] != nil {
		t.Errorf("somebody has the policy unasked: %v", asking)
	}
	golden(t, "rights.txt", b.String())
}

// writeRights writes the statements of somebody's policy, a line for each resource.
func writeRights(t *testing.T, b *strings.Builder, whose string, statements []any) {
	t.Helper()
	for _, s := range statements {
		if at(s, "Effect") != "Allow" {
			t.Errorf("%s: %v", whose, s)
		}
		for _, arn := range listed(at(s, "Resource")) {
			var actions []string
			for _, action := range listed(at(s, "Action")) {
				_, name, _ := strings.Cut(action.(string), ":")
				actions = append(actions, name)
			}
			fmt.Fprintf(b, "  %-40s %s\n", short(plain(arn)), strings.Join(actions, " "))
		}
	}
}

// The ways in which a role of a program could become more than its rights.
func TestRolesHoldNothingButTheirRights(t *testing.T) {
	t.Parallel()
	wild := regexp.MustCompile(`^(\*|.*/(archive|drop|quarantine|tables|views)/\*|.*/stream/\*|.*/@connections/\*)$`)
	for name, part := range full.parts {
		ids, roles := part.all("AWS::IAM::Role")
		for _, id := range ids {
			if id != "ApiCloudWatchRole73EC6FC4" && roles[id].Properties["ManagedPolicyArns"] != nil {
				t.Errorf("%s has managed policies", id)
			}
			for _, s := range statements(roles[id]) {
				for _, action := range listed(at(s, "Action")) {
					if strings.Contains(action.(string), "*") || at(s, "NotAction") != nil {
						t.Errorf("%s may do %v", id, action)
					}
				}
				for _, arn := range listed(at(s, "Resource")) {
					text := plain(arn)
					if strings.Contains(text, "*") && !wild.MatchString(text) || text == "*" && at(s, "Sid") != "Trace" {
						t.Errorf("%s has rights on %s", id, text)
					}
				}
			}
		}
		policies, found := part.all("AWS::IAM::Policy")
		for _, id := range policies {
			for _, role := range listed(found[id].Properties["Roles"]) {
				if !strings.HasPrefix(plain(role), "${TaskExecutionRole") {
					t.Errorf("%s: the policy %s is attached to %s by another stack", name, id, plain(role))
				}
			}
		}
	}
}

func TestTheKeyOfSecretsIsUsedForDataKeysOnly(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, part := range full.parts {
		_, roles := part.all("AWS::IAM::Role")
		for id, role := range roles {
			for _, s := range statements(role) {
				actions := listed(at(s, "Action"))
				if !strings.HasPrefix(actions[0].(string), "kms:") {
					continue
				}
				seen++
				if slices.Contains(actions, any("kms:Decrypt")) && id == "DatakeyRole" {
					t.Error("who makes a data key may unwrap it")
				}
				if at(s, "Condition", "Null", "kms:EncryptionContext:quotary:data-key") != "false" ||
					at(s, "Condition", "ForAllValues:StringEquals", "kms:EncryptionContextKeys", 0) != "quotary:data-key" {
					t.Errorf("%s may use the key under %v", id, at(s, "Condition"))
				}
			}
		}
	}
	if seen == 0 {
		t.Error("nobody may unwrap data keys")
	}
}

func TestAProgramThatDeclaresNothingFailsTheSynthesis(t *testing.T) {
	t.Parallel()
	for _, name := range append(catalog.Functions(), catalog.ProgramIngester) {
		if _, ok := catalog.ProgramOf(name); !ok {
			t.Errorf("%s declares nothing", name)
		}
	}
	if p, ok := catalog.ProgramOf("nobody"); ok || len(p.Tables) > 0 || p.Secrets {
		t.Errorf("a program that does not exist declares %+v", p)
	}
}

func TestDeclaredTablesAreThoseOfTheSchema(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, spec := range schema.Tables("") {
		known[spec.Name] = true
	}
	for _, p := range catalog.Programs() {
		for name := range p.Tables {
			if !known[name] {
				t.Errorf("%s uses the table %s, which the schema does not have", p.Name, name)
			}
		}
	}
}
