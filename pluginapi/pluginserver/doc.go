// Package pluginserver turns a store into a plugin: a main function hands its store to
// [Serve] and exits with what that returns.
//
// # Life of a plugin process
//
// anarchon starts the process with a variable that says so, a private directory for its
// socket, and a pipe as its standard input. Serve prints one line that names the socket, and
// then serves. Nothing else may be written to standard output; log lines go to standard
// error, one JSON object each, through the logger that [Options.New] gets.
//
// The pipe is the plugin's lifeline. Its end means that anarchon wants the plugin to stop, or
// is gone: Serve refuses new calls, lets those under way finish, closes the store, and
// returns once anarchon has hung up, all within three seconds. As long as the pipe is open, SIGINT and SIGTERM are
// ignored: a service manager or a terminal signals anarchon and its plugins together, and
// anarchon still needs the store to hand its runs over.
//
// # What Serve does for the store
//
// It checks every item of a batch before the store sees it, so that a store never gets a
// claim without a token or a job named "../x". It turns a panic in a call into an Internal
// error with the stack in the log. It answers Heartbeat, Finish and Expired with Unsupported
// for a store without leases. And it takes the values of sensitive settings out of every
// error, warning and log line, in case the backend's library has put them there.
package pluginserver
