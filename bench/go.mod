module github.com/anarchon-scheduler/anarchon/bench

go 1.26.0

require (
	github.com/anarchon-scheduler/anarchon/pluginapi v0.1.0
	github.com/gorhill/cronexpr v0.0.0-20180427100037-88b0669f7d75 // indirect
	github.com/hashicorp/cronexpr v1.1.3 // indirect
	github.com/robfig/cron/v3 v3.0.1 // indirect
)
