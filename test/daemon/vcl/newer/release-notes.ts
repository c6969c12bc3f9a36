// Statements of the public notes of Varnish 8.0, 8.0.1 and 9.0 (doc/changes.rst, doc/sphinx/whats-new/changes-*.rst and
// upgrading-*.rst of the repository varnish/varnish), in our words and in their order, each with a test of it or the
// reason for having none. No binary of these releases can be compared with, as it is for 7.7 (test/differential/scenarios-newer).

import { NO_C, NO_VARNISHTEST, type NoteRow, not, tested } from './note-row.ts';

const BODIES = 'system/newer-bodies.test.ts';
const PARAMS = 'daemon/params/newer-params.test.ts';
const PARAMS_LIVE = 'system/newer-parameters.test.ts';
const RECORDS = 'system/newer-records.test.ts';
const REFRESH = 'system/refresh.test.ts';
const REMOVED = 'daemon/vcl/newer/removed.test.ts';
const DECLARATIONS = 'daemon/vcl/newer/declarations.test.ts';
const VARIABLES = 'daemon/vcl/newer/variables.test.ts';
const RELEASE_9 = 'system/varnish9.test.ts';

// biome-ignore format: a row is one statement
export const RELEASE_NOTES: readonly NoteRow[] = [
  // 8.0
  tested('8.0', 'A read-only parameter cannot be set by an alias.', [PARAMS, 'is read-only by both of its names']),
  tested('8.0', 'An alias cannot be made read-only.', [PARAMS, 'is read-only by both of its names']),
  tested('8.0', 'uncacheable_ttl is the lifetime of what the builtin program calls uncacheable.', [PARAMS_LIVE, 'is how long the builtin program remembers what is uncacheable']),
  tested('8.0', 'It can be read as param.uncacheable_ttl.', [VARIABLES, 'can be read in every state, with their types']),
  tested('8.0', 'http_req_overflow_status can be 500.', [PARAMS_LIVE, "['500', 'HTTP/1.1 500 Internal Server Error"]),
  tested('8.0', 'ban_any_variant is 0 by default.', [PARAMS, 'changes what is at its default, and nothing else']),
  tested('8.0', 'With 0 a lookup compares the variants that match, and no others, with bans.', [PARAMS_LIVE, 'limits the objects of a key that a lookup tests against bans']),
  tested('8.0', 'A larger value has others compared, too.', [PARAMS_LIVE, "['10000', 2]"]),
  tested('8.0', 'Answers to HEAD have a Content-Length.', ['system/head-answers.test.ts', 'it.each([']),
  tested('8.0', 'The builtin program answers unknown methods with 501 and closes.', [RELEASE_9, 'answers 501 to a method that it does not know, and closes'], ['daemon/vcl/newer/releases.test.ts', 'makes a tunnel of a method that it does not know under 7.1']),
  tested('8.0', 'Requests that wait for one object are all served by it, also without ttl and grace.', [RELEASE_9, 'all get what arrives, also without a ttl']),
  tested('8.0', 'A private object is not shared so.', [RELEASE_9, 'do not share what is private']),
  tested('8.0', 'They are not served one after the other.', ['system/waiting.test.ts', 'get each their own of what is not to be shared, at the same time']),
  tested('8.0', 'stop waits for transactions under way.', ['system/graceful-stop.test.ts', 'finishes the request under way, says that the connection ends, and takes no other']),
  tested('8.0', 'It does so without a limit.', ['system/graceful-stop.test.ts', 'cuts the rest after stop_timeout, and reports it']),
  tested('8.0', 'A request body that cannot be read is answered with 400.', [BODIES, 'is answered with 400, which the program sees'], [BODIES, 'is answered with 400 where it was to be kept']),
  tested('8.0', 'Some parameters are variables of programs, param.<name>.', [VARIABLES, 'can be read in every state, with their types'], ['system/newer-language.test.ts', 'reads parameters as they are now']),
  tested('8.0', 'vcl_backend_refresh sees a 304 as beresp and the stale object as obj_stale.', [REFRESH, 'sees the stale object and the 304, and may change the latter']),
  tested('8.0', 'return (merge) joins the headers of both.', [REFRESH, 'are those of both with return (merge), which is the default']),
  tested('8.0', 'It may fail, abandon, retry or return an error.', [REFRESH, 'ends the fetch with an error of its own'], [REFRESH, 'fails it, or gives it up'], [REFRESH, 'has it tried again, over the same connection']),
  tested('8.0', 'return (obj_stale) keeps the stale headers.', [REFRESH, 'are those of the stale object with return (obj_stale)']),
  tested('8.0', 'return (beresp) takes the new ones, but for four that describe the body.', [REFRESH, 'are those of beresp with return (beresp), but for length, encoding and validators']),
  tested('8.0', 'Subs of the builtin program look for special cases.', [REFRESH, 'refuses a 304 that nobody asked for'], [REFRESH, 'refuses a 304 about an object that is no 200']),
  tested('8.0', 'Four functions of std that convert numbers and times are gone.', [REMOVED, 'real2integer'], [REMOVED, 'is refused with 9.0, with a hint']),
  tested('8.0', 'std.integer(), std.time() and std.real() take their place.', ['differential/extension-cases.txt', 'std.integer']),
  tested('8.0', 'cookie.format_rfc1123() is gone, cookie.format_date() stays.', [REMOVED, 'format_rfc1123']),
  not('8.0', 'Tools print a backtrace when they crash.', 'The runtime prints the stack of an exception.'),
  tested('8.0', 'ESI_xmlerror has a colon after ERR and WARN.', [RECORDS, 'colon in complaints about edge-side includes']),
  tested('8.0', 'Bans can be about obj.last_hit.', ['daemon/cache/ban/ban.test.ts', 'obj.last_hit']),
  tested('8.0', 'VCP counts found and new connection pools as backends are made.', ['daemon/backend/backend.test.ts', 'is counted by whether its address had a pool already']),
  tested('8.0', 'transit_stored and transit_buffered count bytes of uncacheable bodies.', ['system/transit-buffer.test.ts', 'transit_stored'], ['system/transit-buffer.test.ts', 'transit_buffered']),
  tested('8.0', 'The tool for counters prints them once where its output is no terminal.', ['system/tools.test.ts', 'prints a snapshot where there is no terminal and nothing is asked for']),
  tested('8.0', 'Its -c asks for the interactive form.', ['system/tools.test.ts', "'-c'"]),
  not('8.0', 'varnishtest prints a backtrace, and lives elsewhere.', NO_VARNISHTEST),
  tested('8.0', 'Access logs show headers of programs with :first and :last.', ['console/ncsa/access-line.test.ts', 'are the first or the last of all where that is asked for']),
  not('8.0', 'Changes of hdr_t, VRT_VSC_Alloc(), strands, blobs, vcountof(), arguments of VMODs, VRT filters and VAI.', NO_C),
  tested('8.0', 'A program may ask for a range of its own with http_range_support on.', [RELEASE_9, 'that the program asks for are delivered and kept']),
  tested('8.0', 'Resets that a client of HTTP/2 provokes count as rapid resets.', ['system/http2-attacks.test.ts', 'h2_flood_error']),
  tested('8.0', 'The transit buffer does not hold up bodies of requests.', ['system/transit-buffer.test.ts', 'stops a fetch whose client reads nothing, and lets another one come to its end']),
  not('8.0', 'Private objects scale better.', 'No figure is published; test/bench/waiting.js measures ours.'),
  tested('8.0', 'Folding joins no entry with a negated one.', [DECLARATIONS, 'never folds across a refusal']),
  tested('8.0', 'Acls are folded unless they have -fold.', [REMOVED, 'an acl is folded unless it says no']),
  tested('8.0', 'The log names the joined networks.', [DECLARATIONS, 'logs the joined network as 7.7.0 does, and the wider one of two']),
  not('8.0', 'Temperatures of programs are handled better.', 'A defect of Varnish; temperatures are compared in test/differential/commands.test.ts.'),
  tested('8.0', 'A chunk ends with CRLF.', ['system/safety-chunks.test.ts', 'a byte too many, too few or another']),
  not('8.0', 'The lurker counts more often.', 'Counters are published every 100 ms.'),
  not('8.0', 'Starts with a persistent storage and gzip buffers cost less.', 'Neither exists here.'),
  not('8.0', 'Errors of regular expressions have one form.', 'The words are ours; test/queries/regex has them.'),
  tested('8.0', 'A synthetic body for which there is no storage fails.', ['system/no-storage.test.ts', 'is none: the fetch fails']),
  // 8.0.1
  tested('8.0.1', 'A whole URL without a path asks for /, or for * with OPTIONS.', [BODIES, "['OPTIONS http://b.example', 'OPTIONS * HTTP/1.1']"], [BODIES, "['GET http://b.example', 'GET / HTTP/1.1']"]),
  tested('8.0.1', 'Its host becomes that of the request.', [BODIES, 'is a path and a host']),
  tested('8.0.1', 'A whole URL without a host is answered with 400.', [BODIES, 'without a host is refused']),
  tested('8.0.1', 'The builtin program wants a URL that begins with a slash, but for CONNECT and OPTIONS.', [RELEASE_9, 'refuses a URL that does not begin with a slash'], ['differential/scenarios-newer/builtin.txt', 'the form of the URL']),
  tested('8.0.1', 'ReqTarget has the target as it came; it is masked by default.', [RECORDS, 'has the target of a request as it came, unless it is masked']),
  // 9.0
  tested('9.0', '-E finds an extension by its name.', ['system/newer-options.test.ts', 'does not start without an extension of -E']),
  tested('9.0', 'SIGTERM is no error in the log of the manager.', ['system/graceful-stop.test.ts', 'a daemon that gets SIGTERM does the same']),
  tested('9.0', 'A request without a body goes on with Content-Length: 0, but for five methods.', [BODIES, 'is sent to the origin with Content-Length: 0'], [BODIES, 'says nothing of it']),
  tested('9.0', 'A revalidation becomes a plain fetch if its object is purged or banned meanwhile.', [REFRESH, 'is fetched as a whole, where vcl_backend_error or vcl_refresh_valid tries again']),
  tested('9.0', 'https_scheme is on by default.', [BODIES, "['GET https://b.example/x', 'GET /x HTTP/1.1']"]),
  tested('9.0', 'beresp.storage_hint is gone.', [REMOVED, 'storage_hint']),
  tested('9.0', 'req.ttl is req.max_age, and stays as an alias.', [VARIABLES, 'has two names'], [REMOVED, 'names the newer name of req.ttl']),
  tested('9.0', 'bereq.retry_connect = false refuses the second try on a new connection.', ['system/newer-language.test.ts', 'refuses a second try on another connection for one fetch']),
  tested('9.0', 'unused marks a symbol.', [DECLARATIONS, 'may stay unused, whether it is declared before or after']),
  tested('9.0', 'Subs can be passed on in vcl_init and vcl_fini.', ['daemon/vcl/newer/places.test.ts', 'a sub is passed on in vcl_init and vcl_fini']),
  tested('9.0', '+fold(-report) keeps warnings away.', [DECLARATIONS, 'is reported entry by entry unless it says otherwise']),
  tested('9.0', 'The extension math has the functions and constants of math.h.', ['daemon/extensions/math/math.test.ts', 'functions with an exact result'], ['daemon/extensions/math/math.test.ts', 'has constants and kinds of numbers by name']),
  tested('9.0', 'math.approx() and math.strfromd().', ['daemon/extensions/math/math.test.ts', 'compares numbers that are about the same'], ['daemon/extensions/math/math.test.ts', "describe('strfromd'"]),
  tested('9.0', 'std.rfc_ttl() calculates the lifetimes again, and leaves beresp.uncacheable.', ['system/rfc-ttl.test.ts', 'calculates ttl and grace again, and logs them']),
  tested('9.0', 'BackendOpen has the age and the uses of a kept connection.', [RECORDS, 'age and uses of a connection in BackendOpen']),
  tested('9.0', 'The reason of a stale object that is no longer valid tells so.', [REFRESH, 'Invalid object for refresh']),
  not('9.0', 'The descriptions of REM_CLOSE and REQ_CLOSE speak of peers.', 'The words of descriptions are ours.'),
  not('9.0', 'Counters of workspaces that were too small are shown by default.', 'There are no workspaces: they stay at 0.'),
  tested('9.0', 'http1_absolute_form counts whole URLs.', [BODIES, 'MAIN.http1_absolute_form']),
  not('9.0', 'VSL_Setup(), methods as bits, additions to VAI.', NO_C),
  tested('9.0', 'A whole URL with a query alone gets a slash.', [BODIES, "['GET http://b.example?/foo', 'GET /?/foo HTTP/1.1']"]),
];
