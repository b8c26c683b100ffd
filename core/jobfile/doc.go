// Package jobfile turns configuration files into jobs and settings, with diagnostics that
// point at file, line and column.
//
// Loading takes three steps, since what is safe depends on the store, and a store is only
// known through its plugin:
//
//  1. [Load] reads and checks everything that needs no plugin: syntax, names, types, values,
//     schedules. It reports every problem of every file in one pass.
//  2. [Store.Decode] checks a store block against its plugin's schema and makes the settings
//     that the plugin gets; [Settings.Locate] maps the plugin's own complaints back to the
//     user's lines.
//  3. [Config.Check] checks the rules of package job against what the store promises.
//
// Files come from people and may come from strangers. They are capped in size, and looked
// through token by token before the parser sees them, because HCL's parser recurses without a
// limit and Go can't recover from an overflowing stack. Expressions are literals, lists,
// maps, templates and env(); nothing in a file can run, loop, or read another file.
//
// Positions count lines and characters from 1. Nothing here depends on the environment, but
// for env().
package jobfile
