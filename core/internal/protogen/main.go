// Command protogen generates pluginapi/internal/pluginpb from the .proto files in
// pluginapi/proto. It runs from the repository's root, without protoc and without network:
//
//	go run ./core/internal/protogen            # write the generated files
//	go run ./core/internal/protogen -check     # fail when a committed file differs
//	go run ./core/internal/protogen -baseline  # and make this the API that must be kept
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

const (
	module   = "github.com/anarchon-scheduler/anarchon/pluginapi"
	folder   = "pluginapi"
	sources  = folder + "/proto"
	baseline = folder + "/internal/pluginpb/testdata/api-v1.binpb"
)

func main() {
	check := flag.Bool("check", false, "compare with the committed files instead of writing")
	keep := flag.Bool("baseline", false, "also write "+baseline)
	flag.Parse()
	if err := run(context.Background(), *check, *keep); err != nil {
		fmt.Fprintln(os.Stderr, "protogen:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, check, keep bool) error {
	files, err := compile(ctx, "anarchon/plugin/v1/plugin.proto", "anarchon/plugin/v1/store.proto")
	if err != nil {
		return err
	}
	out := map[string][]byte{}
	for _, tool := range []string{"protoc-gen-go", "protoc-gen-go-grpc"} {
		if err := generate(ctx, tool, files, out); err != nil {
			return fmt.Errorf("%s: %w", tool, err)
		}
	}
	if keep {
		for _, file := range files.File { // comments may change without breaking anyone
			file.SourceCodeInfo = nil
		}
		if out[baseline], err = (proto.MarshalOptions{Deterministic: true}).Marshal(files); err != nil {
			return err
		}
	}
	var problems []error
	for name, content := range out {
		if check {
			problems = append(problems, compare(name, content))
		} else {
			problems = append(problems, os.WriteFile(name, content, 0o644))
		}
	}
	return errors.Join(problems...)
}

func compare(name string, content []byte) error {
	committed, err := os.ReadFile(name)
	if err == nil && !bytes.Equal(committed, content) {
		err = fmt.Errorf("%s isn't what the .proto files say; run go run ./core/internal/protogen", name)
	}
	return err
}

// compile parses and links the named files, imports first.
func compile(ctx context.Context, names ...string) (*descriptorpb.FileDescriptorSet, error) {
	compiler := protocompile.Compiler{
		Resolver:       &protocompile.SourceResolver{ImportPaths: []string{sources}},
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	linked, err := compiler.Compile(ctx, names...)
	if err != nil {
		return nil, err
	}
	set := &descriptorpb.FileDescriptorSet{}
	for _, file := range linked {
		set.File = append(set.File, protodesc.ToFileDescriptorProto(file))
	}
	return set, nil
}

// generate runs one of protoc's plugins, a tool of the root go.mod, and adds what it wrote.
func generate(ctx context.Context, tool string, files *descriptorpb.FileDescriptorSet, out map[string][]byte) error {
	request := &pluginpb.CodeGeneratorRequest{ProtoFile: files.File, Parameter: new("module=" + module)}
	for _, file := range files.File {
		request.FileToGenerate = append(request.FileToGenerate, file.GetName())
	}
	in, err := proto.Marshal(request)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "tool", tool)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	answer, err := cmd.Output()
	if err != nil {
		return err
	}
	var response pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(answer, &response); err != nil {
		return err
	}
	if response.Error != nil {
		return errors.New(response.GetError())
	}
	for _, file := range response.GetFile() {
		out[filepath.Join(folder, file.GetName())] = []byte(file.GetContent())
	}
	return nil
}
