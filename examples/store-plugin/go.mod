module github.com/anarchon-scheduler/anarchon/examples/store-plugin

go 1.26.0

require github.com/anarchon-scheduler/anarchon/pluginapi v0.1.0
