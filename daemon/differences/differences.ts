// Where proxyd differs from Varnish on purpose, as an operator who moves from one to the other meets it. README.md beside
// this file is made from these rows, and proxy-vcl(7) from that. Differences in single bytes of requests, responses and
// log records are in test/differential/, where each is compared with a running Varnish.

/** The release that a row speaks of unless it names another. */
export const COMPARED_RELEASE = '7.1';

interface Difference {
  readonly section: string;
  /** A few words, which begin the entry. */
  readonly topic: string;
  /** The behavior of proxyd, and of Varnish where that is not obvious. Markdown, one paragraph. */
  readonly what: string;
  /** The reason. Markdown, one paragraph. */
  readonly why: string;
  /** The release of Varnish that was compared. */
  readonly release: string;
}

const row = (
  section: string,
  topic: string,
  what: string,
  why: string,
  release: string = COMPARED_RELEASE,
): Difference => ({ section, topic, what, why, release });

const NAMES = 'Names';
const MESSAGES = 'Requests and responses';
const CACHE = 'Cache';
const ESI = 'Edge-side includes';
const LANGUAGE = 'Language and extensions';
const OPERATION = 'Operation';
const TOOLS = 'Log and tools';

// biome-ignore format: a row is one difference, not seven lines
export const DIFFERENCES: readonly Difference[] = [
  row(NAMES, 'Commands',
    'They are `proxyd`, `proxyadm`, `proxylog`, `proxylog-json`, `proxyncsa`, `proxystat`, `proxytop` and `proxyhist`.',
    'The names are neutral. Flags, output and exit codes are the same, so that scripts need no other change.'),
  row(NAMES, 'X-Proxy-Id',
    'This header takes the place of `X-Varnish`. Programs that mention `X-Varnish` compile, but they remove nothing and find nothing; `--lint` lists the places.',
    '`-p id_header=X-Varnish` gives the header its old name everywhere.'),

  row(MESSAGES, 'Strict requests',
    'A request gets 400 and the end of its connection if its framing can be read in two ways or its head is malformed, even where Varnish accepts it. `feature +lenient_lf` accepts requests whose lines end in LF alone, such as those typed into netcat.',
    'Two readings of one request are how requests are smuggled. The log has the reason in words (`Error`), each reason has a counter (`MAIN.refused_…`), and the console\'s "why?" explains it. Each case is compared with Varnish in the source, in `test/differential/known-differences.ts` and `strict-cases.ts` beside it.'),
  row(MESSAGES, 'Lenient responses',
    'Old forms in responses of origins are accepted, rewritten and logged (`Notice`, `MAIN.beresp_lenient`): lines that end in LF alone, folded headers (the fold becomes one space), a repeated equal Content-Length, spaces after the size of a chunk, chunks from HTTP/1.0. Content-Length together with Transfer-Encoding is an error, and so are lengths that differ.',
    'The origin is the operator\'s own, and its responses are written from scratch. [Decision 10](../decisions/10-strict-and-lenient.md) has the list.'),
  row(MESSAGES, 'HTTP/2 on TLS listeners',
    'It is offered there unless `feature -http2` is set; elsewhere it is off until `feature +http2`, as in Varnish. A minus is kept in the value and shown by `param.show`.',
    'Browsers speak HTTP/2 over TLS, and that is what operators expect by default.',
    '9.0'),
  row(MESSAGES, 'Upgrades to HTTP/2',
    '`Upgrade: h2c` is not answered: the request is served over HTTP/1. Clients that know that HTTP/2 is spoken begin with it.',
    'RFC 9113 has given that upgrade up, and browsers never asked for it. Requests that change their protocol half-way are how requests are smuggled.'),
  row(MESSAGES, 'Strict heads over HTTP/2',
    'A stream is reset (`PROTOCOL_ERROR`) where RFC 9113 calls a request malformed and Varnish serves it: fields about a connection of HTTP/1, pseudo-headers after other fields in a head with `:authority`, no `:scheme`, a `:path` that begins with no slash, a value with a blank around it, `:authority` and Host that differ. `http_req_size` and `http_req_hdr_len` hold over HTTP/2, too. Trailers of requests are dropped (`MAIN.h2_trailers`), where Varnish ends the connection.',
    'These requests mean something else once they are written as HTTP/1. Each has its words in the log (`Error`) and its counter (`MAIN.refused_…`).'),
  row(MESSAGES, 'HTTP/2 that breaks the rules',
    'Connections end with the code that RFC 9113 names, also where Varnish names another one or goes on; the words are in the session\'s log (`Error`), and `MAIN.h2_goaway_…` counts by code. Floods that the protocol allows end with `ENHANCE_YOUR_CALM` (`MAIN.h2_flood_…`). Connections that are idle for `timeout_idle`, and those of a worker that stops, end with GOAWAY.',
    'A client can tell an error from a lost connection, and an operator can see which it was.'),
  row(MESSAGES, 'Responses over HTTP/2',
    'They refer to header fields that the client has seen before (HPACK), and the last DATA frame ends the stream; Varnish repeats all fields and sends an empty frame. `ReqAcct` counts what was sent.',
    'Fewer bytes.'),
  row(MESSAGES, 'Uploads over HTTP/2 that nobody reads',
    'They are neither waited for nor counted: the answer leaves at once, and the stream ends with `NO_ERROR` (RFC 9113 section 8.1). Varnish answers when the upload has ended. A stream whose answer cannot be made is reset at once; Varnish leaves it open.',
    'A client learns early that it can stop sending.'),
  row(MESSAGES, 'Requests sent twice',
    'A request that is not idempotent is never sent twice. Varnish repeats one without a body if a kept connection turns out to be closed.',
    'The origin may have acted on the first one.'),
  row(MESSAGES, 'Partial responses',
    'A partial response in a unit other than bytes, or of unknown total length (`Content-Range: bytes 0-9/*`), is passed through. A malformed `Range` is left for the origin to judge, if it answers without a range.',
    'Ranges that cannot be cut from a stored object are between client and origin.'),
  row(MESSAGES, 'Ranges in other units',
    'A `Range` in a unit other than bytes is ignored (RFC 9110 section 14.2). Varnish answers 416.',
    'A unit that is not understood must be ignored.'),
  row(MESSAGES, 'Ranges of other methods',
    'A `Range` is one of a GET and ignored elsewhere (RFC 9110 section 14.2). Varnish answers HEAD and POST with 206 or 416, too.',
    'No other method has ranges, so that their lengths would be wrong for the client.'),
  row(MESSAGES, 'Interim responses of origins',
    'A 1xx response before the final one is skipped (RFC 9110 section 15.2). Varnish fails the fetch.',
    'An origin may send early hints to anybody who asks.'),
  row(MESSAGES, 'Illegal request lines',
    'A fetch fails with `Illegal request line` if the program puts bytes into the request line that would change its meaning (a space in a URL, a line end). The same bytes in a reason phrase are not sent either.',
    'No program can break the framing of a message.'),
  row(MESSAGES, 'Error pages',
    'Those of the builtin `vcl_synth` and `vcl_backend_error` are pages of proxyd.',
    "Varnish's pages name Varnish."),

  row(CACHE, 'Private responses',
    'In both values of `http_profile`, an `Expires` that is not a date (`0`, `-1`) means stale, and a `*` anywhere in `Vary` means uncacheable. Clients that wait for the same failed fetch share its error; no other client gets it.',
    'Nothing private is shared.'),
  row(CACHE, 'Ranges far ahead',
    'A range that begins more than `range_ahead` (16 MiB) after what has come of an object that is still being fetched is fetched on its own, after `vcl_hit` or `vcl_miss`, and logged (`Notice`): as a part of the object, once for all who ask for it, where the origin says `Accept-Ranges: bytes` and gave a strong validator, and as a pass elsewhere. Varnish lets it wait; so does `-p range_ahead=0`.',
    'Who asks for the end of a large file does not wait for all of it.'),
  row(CACHE, 'Slices and parts',
    '`req.slice` is the size of slices in which a large object is fetched and kept, 0 unless set; `req.parts` keeps the ranges that clients ask for, and is true only with `http_profile=rfc9111` unless set. Varnish has neither.',
    'Who asks for a part of a large file does not wait for all of it, and does not fill the store with it.'),
  row(CACHE, 'Purges during a fetch',
    'A purge or a ban also covers objects that are being fetched at the time.',
    'A request that comes after the purge never gets the old content.'),
  row(CACHE, 'Forced misses',
    'A fetch forced by `req.hash_always_miss` removes the older object of its variant as soon as it is complete, and with `req.hash_ignore_vary` those of all variants. Varnish keeps them until they expire, hidden by the new one.',
    'Refreshing a URL often does not fill the storage.'),
  row(CACHE, 'Errors during an outage',
    'A 5xx response that is not to be cached hides and replaces nothing. In Varnish its hit-for-miss marker hides the good copy. `REFRESH` of `invalidate.vcl` leaves everything in place if the origin fails.',
    'A refresh during an outage keeps the copy that can still be served.'),
  row(CACHE, 'Request bodies',
    'A body over the limit of `std.cache_req_body` is answered with 400, and one that its storage has no room for with 503. Varnish closes the connection.',
    'The client learns the reason.'),
  row(CACHE, 'Storage',
    'It is in memory: `-s malloc`, `default` or `umem`, but not `deprecated_persistent`. `-s disk,DIRECTORY,SIZE`, or `file`, is a tier behind all of it, for objects up to a 32nd of its size and 1 GiB: they survive restarts, and what was purged or banned does not come back. An object that `beresp.storage` sends to it is in memory too, whose storage `obj.storage` names. Without it the cache is lost when the worker ends.',
    'A restart does not send all requests to the origin. Varnish forgets the objects of its `file`.'),

  row(ESI, 'Parallel fragments',
    'The fragments of a page are fetched at the same time, up to `esi_parallel` of them (16), and written in their order. `esi_parallel 1` fetches one after the other as Varnish does.',
    'A page takes as long as its slowest fragment, and not as long as all of them.'),
  row(ESI, 'Ranges of pages',
    'A request for a range of a page fetches all its fragments, also those that the range leaves out. Varnish 7.7 does not fetch those behind its end.',
    'Fragments are fetched at the same time, ahead of the bytes around them.',
    '7.7'),
  row(ESI, 'Broken fragments',
    'A fragment that breaks off is named in the log of its page: `ESI include /url: …`.',
    'The page alone would not show which one it was.'),
  row(ESI, 'Markup',
    '`feature +esi_remove_bom` removes the byte order mark of UTF-8; Varnish looks for other bytes. An include with control characters in its `src` is an error. An `<esi:include>` that follows one with a wrong attribute after its `src` is included; Varnish takes the two for one with two sources and drops both.',
    'These are errors in Varnish, or ways into the request line.'),
  row(ESI, 'Compressed pages',
    'They have other lengths.',
    'Each part is compressed on its own, so that it can be stored and used again.'),

  row(LANGUAGE, 'Verification of TLS backends',
    'The certificate of a backend with `.ssl = 1` must have the name of the backend, in its subjectAltName. Varnish verifies only who signed it unless `.ssl_verify_host = 1` is given. `.ssl_verify_host = 0` turns it off here, and so does `.ssl_verify_peer = 0`.',
    'Otherwise whoever has any certificate of a public authority can take the place of the backend.', '9.0'),
  row(LANGUAGE, 'Attributes of TLS without TLS',
    'An attribute `.ssl_…` of a backend without `.ssl = 1`, and two that contradict each other, are errors.',
    'They look like protection that is not there.', '9.0'),
  row(LANGUAGE, 'Option -C',
    'It prints JavaScript instead of C, and there is no inline C.',
    'Programs compile to JavaScript.'),
  row(LANGUAGE, 'VMODs',
    'Compiled VMODs do not load. Most of the usual ones are [built in](../README.md#programs), and [your own](../extensions/README.md) are JavaScript modules or Node-API addons.',
    'They link the libraries of Varnish.'),
  row(LANGUAGE, 'tcp',
    'The extension loads, but its functions only return the values that mean failure: nothing is paced, and no round-trip time is known. The log says so (`VCL_Error`).',
    'Node has no access to the socket options that they need.'),
  row(LANGUAGE, 're2',
    'A search fails the transaction where the instructions of the pattern times the bytes of the text exceed 1000 times `pcre2_match_limit`. Patterns that come with a call have at most 5,000 instructions.',
    'A large pattern and a long text would hold up other requests.'),
  row(LANGUAGE, 'xkey and saintmode',
    '`xkey.purge()` counts objects, not pairs of object and key. The text of `saintmode.status()` is complete JSON.',
    'The number is the one that an editor expects, and the text can be parsed.'),

  row(OPERATION, 'Jails and users',
    'The jails are `unix`, which `linux` is another name of, and `none`. The user of the worker is `proxyd` or `nobody` unless you name one, and the manager, which traffic never reaches, stays root.',
    'See [users and permissions](../README.md#users-and-permissions).'),
  row(OPERATION, 'Secrets and directories',
    'A secret (`-S`) that is blank or that other users can write to is refused, and so is the working directory of another user.',
    'Whoever knows the secret, or writes to that directory, controls the daemon.'),
  row(OPERATION, 'Parameters without a meaning',
    'Parameters of Varnish that mean nothing here (`thread_pools`, `workspace_thread` and others) can be set with `-p` and `param.set`. They have no effect and give a warning; values that Varnish refuses are refused. They are not listed, and `param.show` says why such a parameter is not available.',
    'Units and scripts can be used again.'),
  row(OPERATION, 'Options without a meaning',
    '`-h` and `-W` are accepted and ignored.',
    'There is one hash and one way to wait for sockets.'),
  row(OPERATION, 'Commands and counters that are missing',
    'Of the `debug.*` commands there are only those that scripts use: `debug.listen_address`, `debug.panic.worker` and `debug.xid`; `debug.fragfetch` and `debug.srandom` have no effect. There is no `vcl.symtab`, and there are no counters for locks and memory pools (`LCK`, `MEMPOOL`).',
    'proxyd has none of these parts.'),
  row(OPERATION, 'Abstract sockets',
    'With Node 20 the name of an abstract socket (`-a @name`, `.path = "@name"`) is filled up with zero bytes to 107; the other side has to do the same. Node 26 uses names as they are.',
    'The runtime binds and connects so.'),
  row(OPERATION, 'Transaction ids',
    'They start over after 1073741823 with any `varnish_release`, and `debug.xid` takes no larger one. Varnish counts on since 7.3.',
    'The log keeps the file format of 7.1, whose records have 30 bits for them.'),

  row(TOOLS, 'Software that links the libraries of Varnish',
    "It does not work with proxyd: compiled VMODs, and readers of Varnish's shared memory such as `varnishlog -n`. Scripts of varnishtest are played by `proxytest`.",
    'The files in the working directory have another format. Use the tools of proxyd.'),
  row(TOOLS, 'Slow readers of the log',
    'A reader that is too slow, or whose query is too expensive, gets the number of records it lost.',
    'It never slows down the worker or another operator.'),
  row(TOOLS, 'Bytes for terminals',
    'On a terminal, control characters and direction marks in data of clients are shown as `%xx`. `proxyncsa -j` writes bytes that are not UTF-8 as `\\u00xx`.',
    'No client can send commands to the terminal of an operator, and every line of JSON can be parsed.'),
];
