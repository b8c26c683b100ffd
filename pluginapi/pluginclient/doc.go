// Package pluginclient starts a store plugin and speaks to it.
//
// [Open] starts the process and returns once the plugin has said what it is; [Plugin.Configure]
// then yields a store. A [Plugin] lives as long as its process: when [Plugin.Done] closes,
// [Plugin.Err] says why, and the way on is to Close it and to Open a new one.
//
// # What may go wrong
//
// The plugin is another program, and this package expects everything of it. It may not start,
// print rubbish, answer nonsense or nothing at all, leave children behind, or be stopped by a
// debugger. Therefore: every start ends within [Options.StartTimeout] and every failure of one
// is a [StartError] that names the path and the reason; every call ends by its deadline;
// [Plugin.Close] always returns, with the process and its children gone.
//
// The plugin in turn is to be sure that it doesn't outlive its host. It gets a pipe as
// standard input, whose end tells it to stop, and which the kernel closes if the host dies in
// any way at all.
//
// # What crosses
//
// Only calls over a unix socket in a directory that nobody else may enter, under TLS with
// certificates made anew for each start. The environment of the host doesn't cross: it holds
// secrets of others. Lines that the plugin writes are passed to the log, marked, with control
// characters replaced, and not more than 200 a second.
//
// A call without an answer is [pluginapi.Ambiguous], since only the plugin can know that
// nothing was executed.
package pluginclient
