// The planned function answers for every family that has no handler yet: 501,
// after the same checks as any other endpoint and without charge.
package main

import (
	"quotary/shared/catalog"
	"quotary/shared/service"
)

func main() {
	service.RunFamily(catalog.FunctionPlanned, func(*service.Opened) error { return nil })
}
