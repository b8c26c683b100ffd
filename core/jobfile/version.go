package jobfile

import (
	"fmt"
	"strings"

	"golang.org/x/mod/semver"
)

// satisfies tells whether version fits the constraint: comma-separated terms such as
// ">= 0.1" or "~> 1.2", all of which must hold. "~>" allows the last part written to grow.
func satisfies(version, constraint string) (bool, error) {
	all := true
	for term := range strings.SplitSeq(constraint, ",") {
		ok, err := satisfiesTerm(version, strings.TrimSpace(term))
		if err != nil {
			return false, err
		}
		all = all && ok
	}
	return all || !semver.IsValid(version), nil
}

func satisfiesTerm(version, term string) (bool, error) {
	text := strings.TrimLeft(term, "<>=!~")
	operator := term[:len(term)-len(text)]
	bound := "v" + strings.TrimPrefix(strings.TrimSpace(text), "v")
	if !semver.IsValid(bound) {
		return false, fmt.Errorf("%q isn't a version; write it as \">= 0.1\" or \"~> 1.2, != 1.2.3\"", text)
	}
	order := semver.Compare(version, bound)
	switch operator {
	case "", "=":
		return order == 0, nil
	case "!=":
		return order != 0, nil
	case "<":
		return order < 0, nil
	case "<=":
		return order <= 0, nil
	case ">":
		return order > 0, nil
	case ">=":
		return order >= 0, nil
	case "~>":
		family := semver.Major
		if strings.Count(bound, ".") > 1 {
			family = semver.MajorMinor
		}
		return order >= 0 && family(version) == family(bound), nil
	}
	return false, fmt.Errorf("%q isn't an operator; there are = != < <= > >= ~>", operator)
}
