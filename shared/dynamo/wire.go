package dynamo

import (
	"encoding/base64"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/shared/jsonscan"
)

// The append functions write a request's JSON. They report false for an input
// that uses a field they do not write: the SDK makes such a request.

func appendUpdate(b []byte, in *dynamodb.UpdateItemInput) ([]byte, bool) {
	if in.TableName == nil || in.AttributeUpdates != nil || in.Expected != nil || in.ConditionalOperator != "" ||
		in.ReturnConsumedCapacity != "" || in.ReturnItemCollectionMetrics != "" {
		return nil, false
	}
	b = appendField(append(b, '{'), "TableName", *in.TableName)
	b = appendField(b, "ReturnValues", string(in.ReturnValues))
	b = appendField(b, "ReturnValuesOnConditionCheckFailure", string(in.ReturnValuesOnConditionCheckFailure))
	b = appendExpression(b, "UpdateExpression", in.UpdateExpression)
	return finish(b, "Key", in.Key, in.ConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues)
}

func appendPut(b []byte, in *dynamodb.PutItemInput) ([]byte, bool) {
	if in.TableName == nil || in.Expected != nil || in.ConditionalOperator != "" || in.ReturnConsumedCapacity != "" || in.ReturnItemCollectionMetrics != "" {
		return nil, false
	}
	b = appendField(append(b, '{'), "TableName", *in.TableName)
	b = appendField(b, "ReturnValues", string(in.ReturnValues))
	b = appendField(b, "ReturnValuesOnConditionCheckFailure", string(in.ReturnValuesOnConditionCheckFailure))
	return finish(b, "Item", in.Item, in.ConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues)
}

// finish writes what updates and puts have in common.
func finish(b []byte, name string, item map[string]types.AttributeValue, condition *string, names map[string]string, values map[string]types.AttributeValue) ([]byte, bool) {
	b = appendExpression(b, "ConditionExpression", condition)
	if len(names) > 0 {
		b = appendNames(append(b, `"ExpressionAttributeNames":`...), names)
		b = append(b, ',')
	}
	var err error
	if len(values) > 0 {
		if b, err = appendMap(append(b, `"ExpressionAttributeValues":`...), values); err != nil {
			return nil, false
		}
		b = append(b, ',')
	}
	b = append(strconv.AppendQuote(b, name), ':')
	if b, err = appendMap(b, item); err != nil {
		return nil, false
	}
	return append(b, '}'), true
}

func appendBatchGet(b []byte, in *dynamodb.BatchGetItemInput) ([]byte, bool) {
	if in.ReturnConsumedCapacity != "" || len(in.RequestItems) == 0 {
		return nil, false
	}
	b = append(b, `{"RequestItems":{`...)
	first := true
	for table, ask := range in.RequestItems {
		if ask.AttributesToGet != nil {
			return nil, false
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(jsonscan.AppendText(b, table), `:{`...)
		if ask.ConsistentRead != nil {
			b = strconv.AppendBool(append(b, `"ConsistentRead":`...), *ask.ConsistentRead)
			b = append(b, ',')
		}
		b = appendExpression(b, "ProjectionExpression", ask.ProjectionExpression)
		if len(ask.ExpressionAttributeNames) > 0 {
			b = appendNames(append(b, `"ExpressionAttributeNames":`...), ask.ExpressionAttributeNames)
			b = append(b, ',')
		}
		b = append(b, `"Keys":[`...)
		for i, key := range ask.Keys {
			if i > 0 {
				b = append(b, ',')
			}
			var err error
			if b, err = appendMap(b, key); err != nil {
				return nil, false
			}
		}
		b = append(b, `]}`...)
	}
	return append(b, `}}`...), true
}

// appendField writes a member and a comma, or nothing for an empty value.
func appendField(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	b = append(strconv.AppendQuote(b, name), ':')
	return append(jsonscan.AppendText(b, value), ',')
}

func appendExpression(b []byte, name string, value *string) []byte {
	if value == nil {
		return b
	}
	return appendField(b, name, *value)
}

func appendNames(b []byte, names map[string]string) []byte {
	b = append(b, '{')
	first := true
	for placeholder, name := range names {
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(jsonscan.AppendText(b, placeholder), ':')
		b = jsonscan.AppendText(b, name)
	}
	return append(b, '}')
}

func appendMap(b []byte, values map[string]types.AttributeValue) ([]byte, error) {
	b = append(b, '{')
	first := true
	var err error
	for name, value := range values {
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(jsonscan.AppendText(b, name), ':')
		if b, err = appendValue(b, value); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

func appendValue(b []byte, value types.AttributeValue) ([]byte, error) {
	var err error
	switch v := value.(type) {
	case *types.AttributeValueMemberS:
		b = jsonscan.AppendText(append(b, `{"S":`...), v.Value)
	case *types.AttributeValueMemberN:
		b = jsonscan.AppendText(append(b, `{"N":`...), v.Value)
	case *types.AttributeValueMemberB:
		b = base64.StdEncoding.AppendEncode(append(b, `{"B":"`...), v.Value)
		b = append(b, '"')
	case *types.AttributeValueMemberBOOL:
		b = strconv.AppendBool(append(b, `{"BOOL":`...), v.Value)
	case *types.AttributeValueMemberNULL:
		b = strconv.AppendBool(append(b, `{"NULL":`...), v.Value)
	case *types.AttributeValueMemberM:
		if b, err = appendMap(append(b, `{"M":`...), v.Value); err != nil {
			return nil, err
		}
	default:
		return nil, errKind
	}
	return append(b, '}'), nil
}
