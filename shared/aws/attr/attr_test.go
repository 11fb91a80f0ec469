package attr_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"quotary/shared/aws/attr"
)

type values struct {
	Text  string
	Int   int64
	Bool  bool
	Bytes []byte
	Set   [][]byte
}

func readAll(r *attr.Reader) values {
	return values{r.Text("text"), r.Int("int"), r.Bool("bool"), r.Bytes("bytes"), r.Set("set")}
}

func TestAnItemIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	want := values{"é", -5, true, []byte{0, 255}, [][]byte{{0, 255}, []byte("b")}}
	r := attr.Reader{Item: attr.Item{
		"text": attr.S(want.Text), "int": attr.N(want.Int), "bool": attr.Bool(want.Bool), "bytes": attr.B(want.Bytes), "set": attr.Set(want.Set),
	}}
	if diff := cmp.Diff(want, readAll(&r)); diff != "" || r.Err != nil {
		t.Errorf("%v %s", r.Err, diff)
	}
}

func TestWhatIsAbsentIsZero(t *testing.T) {
	t.Parallel()
	var r attr.Reader
	if diff := cmp.Diff(values{}, readAll(&r)); diff != "" || r.Err != nil {
		t.Errorf("%v %s", r.Err, diff)
	}
	if attr.Text(nil, "a") != "" || attr.Int(nil, "a") != 0 || attr.Bytes(nil, "a") != nil {
		t.Error("an absent attribute is not zero")
	}
}

func TestAnAttributeOfAnotherKindIsReported(t *testing.T) {
	t.Parallel()
	strange := &types.AttributeValueMemberNULL{Value: true}
	for _, name := range []string{"text", "int", "bool", "bytes", "set"} {
		r := attr.Reader{Item: attr.Item{"pk": attr.S("p"), "sk": attr.S("s"), name: strange}}
		if diff := cmp.Diff(values{}, readAll(&r)); diff != "" {
			t.Error(diff)
		}
		if r.Err == nil || !strings.Contains(r.Err.Error(), "p s has no readable "+name) {
			t.Errorf("the error of %s is %v", name, r.Err)
		}
	}
	r := attr.Reader{Item: attr.Item{"int": &types.AttributeValueMemberN{Value: "0.5"}}}
	if readAll(&r); r.Err == nil {
		t.Error("a broken number is accepted as a whole one")
	}
}
