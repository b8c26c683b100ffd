package pluginpb_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/anarchon-scheduler/anarchon/pluginapi/internal/pluginpb"
)

// The wire API of the last release; `go run ./core/internal/protogen -baseline` makes the
// present one the baseline.
const baseline = "testdata/api-v1.binpb"

// TestAPIKeepsItsPromise compares the API with the one that released binaries speak: what
// they know must still be there, under the same number and of the same type.
func TestAPIKeepsItsPromise(t *testing.T) {
	for _, problem := range broken(files(t, readBaseline(t)), present(t)) {
		t.Error(problem)
	}
}

// TestBreakingTheAPIIsFound breaks the API in each way, to see that the comparison notices.
func TestBreakingTheAPIIsFound(t *testing.T) {
	message := func(set *descriptorpb.FileDescriptorSet, name string) *descriptorpb.DescriptorProto {
		for _, file := range set.GetFile() {
			for _, m := range file.GetMessageType() {
				if m.GetName() == name {
					return m
				}
			}
		}
		t.Fatalf("no message %s", name)
		return nil
	}
	for want, breakIt := range map[string]func(*descriptorpb.FileDescriptorSet){
		"Claim.token is gone": func(set *descriptorpb.FileDescriptorSet) {
			m := message(set, "Claim")
			m.Field = slices.DeleteFunc(m.GetField(), func(f *descriptorpb.FieldDescriptorProto) bool { return f.GetName() == "token" })
		},
		"Claim.slot_ms has number 20": func(set *descriptorpb.FileDescriptorSet) {
			message(set, "Claim").GetField()[1].Number = proto.Int32(20)
		},
		"Claim.slot_ms has number 2, is string": func(set *descriptorpb.FileDescriptorSet) {
			message(set, "Claim").GetField()[1].Type = descriptorpb.FieldDescriptorProto_TYPE_STRING.Enum()
		},
		"ClaimRequest.claims has number 2, is anarchon.plugin.v1.Claim, is optional": func(set *descriptorpb.FileDescriptorSet) {
			message(set, "ClaimRequest").GetField()[1].Label = descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()
		},
		"ClaimRequest.claims has number 2, is anarchon.plugin.v1.Finish": func(set *descriptorpb.FileDescriptorSet) {
			message(set, "ClaimRequest").GetField()[1].TypeName = new(".anarchon.plugin.v1.Finish")
		},
		"Attempt is gone": func(set *descriptorpb.FileDescriptorSet) {
			message(set, "Attempt").Name = new("Turn")
			m := message(set, "Run")
			m.GetField()[7].TypeName = new(".anarchon.plugin.v1.Turn")
		},
		"VERDICT_LATE has number 60": func(set *descriptorpb.FileDescriptorSet) {
			for _, e := range set.GetFile()[1].GetEnumType() {
				if e.GetName() == "Verdict" {
					e.GetValue()[6].Number = proto.Int32(60)
				}
			}
		},
		"Store.Runs is gone": func(set *descriptorpb.FileDescriptorSet) {
			s := set.GetFile()[1].GetService()[0]
			s.Method = s.GetMethod()[:4]
		},
		"Store.Claim takes anarchon.plugin.v1.FinishRequest": func(set *descriptorpb.FileDescriptorSet) {
			set.GetFile()[1].GetService()[0].GetMethod()[0].InputType = new(".anarchon.plugin.v1.FinishRequest")
		},
	} {
		t.Run(want, func(t *testing.T) {
			set := readBaseline(t)
			breakIt(set)
			problems := broken(files(t, readBaseline(t)), files(t, set))
			if !slices.ContainsFunc(problems, func(p string) bool { return strings.Contains(p, want) }) {
				t.Errorf("found %q; want one about %q", problems, want)
			}
		})
	}
}

func readBaseline(t *testing.T) *descriptorpb.FileDescriptorSet {
	t.Helper()
	data, err := os.ReadFile(baseline)
	if err != nil {
		t.Fatal(err)
	}
	var set descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(data, &set); err != nil {
		t.Fatal(err)
	}
	return &set
}

// present returns the API as it is compiled in.
func present(t *testing.T) []protoreflect.FileDescriptor {
	t.Helper()
	return []protoreflect.FileDescriptor{pluginpb.File_anarchon_plugin_v1_plugin_proto, pluginpb.File_anarchon_plugin_v1_store_proto}
}

func files(t *testing.T, set *descriptorpb.FileDescriptorSet) (out []protoreflect.FileDescriptor) {
	t.Helper()
	linked, err := protodesc.NewFiles(set)
	if err != nil {
		t.Fatal(err)
	}
	linked.RangeFiles(func(f protoreflect.FileDescriptor) bool {
		out = append(out, f)
		return true
	})
	return out
}

// broken lists what an old binary knows and the new API doesn't have, or has otherwise.
func broken(before, after []protoreflect.FileDescriptor) []string {
	known := map[string]string{}
	for _, file := range after {
		facts(file, known)
	}
	var problems []string
	for _, file := range before {
		old := map[string]string{}
		facts(file, old)
		for name, was := range old {
			if is, ok := known[name]; !ok {
				problems = append(problems, fmt.Sprintf("%s is gone; it was %s", name, was))
			} else if is != was {
				problems = append(problems, fmt.Sprintf("%s %s; it was: %s", name, is, was))
			}
		}
	}
	slices.Sort(problems)
	return problems
}

// facts notes, under the name of each part of the API, all that other binaries rely on.
func facts(file protoreflect.FileDescriptor, out map[string]string) {
	for i := range file.Messages().Len() {
		m := file.Messages().Get(i)
		out[string(m.Name())] = "message"
		for j := range m.Fields().Len() {
			f := m.Fields().Get(j)
			kind := f.Kind().String()
			if f.Message() != nil {
				kind = string(f.Message().FullName())
			} else if f.Enum() != nil {
				kind = string(f.Enum().FullName())
			}
			out[string(m.Name())+"."+string(f.Name())] = fmt.Sprintf("has number %d, is %s, is %s", f.Number(), kind, f.Cardinality())
		}
	}
	for i := range file.Enums().Len() {
		values := file.Enums().Get(i).Values()
		for j := range values.Len() {
			out[string(values.Get(j).Name())] = fmt.Sprintf("has number %d", values.Get(j).Number())
		}
	}
	for i := range file.Services().Len() {
		s := file.Services().Get(i)
		for j := range s.Methods().Len() {
			m := s.Methods().Get(j)
			out[string(s.Name())+"."+string(m.Name())] = fmt.Sprintf("takes %s, answers %s, streams %t %t",
				m.Input().FullName(), m.Output().FullName(), m.IsStreamingClient(), m.IsStreamingServer())
		}
	}
}
