// The tables of the language: declarations, statements, flags, functions, attributes and limits. Parser and checker read
// them, and so does the manual.

import { ARITHMETIC, ASSIGNABLE, COMPARABLE, OPERATORS } from './operator-rows.ts';
import { BYTE_UNIT_ROWS, MEMBERS, TIME_UNIT_ROWS, TYPES, type Type } from './type-rows.ts';

type WordRow = {
  readonly word: string;
  readonly syntax: string;
  readonly help: string;
};

const word = (word: string, syntax: string, help: string): WordRow => ({ word, syntax, help });

// biome-ignore format: a row is a line
export const DECLARATIONS: readonly WordRow[] = [
  word('vcl', 'vcl 4.1;',
    'The version of the language, 4.0 or 4.1. It is the first line of the main file and holds for all included files, which may repeat it but not name a higher one.'),
  word('backend', 'backend NAME { .ATTRIBUTE = VALUE; … }',
    'A server to fetch from. The first one of a program, or the one named `default`, serves requests that choose none. `backend NAME none;` declares one that always fails.'),
  word('probe', 'probe NAME { .ATTRIBUTE = VALUE; … }',
    'A health check. A backend uses it by name (`.probe = NAME;`) or has one of its own (`.probe = { … }`). `probe default` serves the backends declared after it that name none.'),
  word('acl', 'acl NAME [FLAGS] { ["!"] "ADDRESS"[/BITS]; … }',
    'A list of addresses, networks and host names to match an IP against with `~`. The most specific entry decides, wherever it stands; `!` makes it a refusal. An entry in parentheses is ignored if its name does not resolve.'),
  word('sub', 'sub NAME { STATEMENTS }',
    'A subroutine. One named as a state (`vcl_recv`) runs in that state; others run when they are called. A state may be defined several times: the parts run in their order, and the builtin program’s part last.'),
  word('import', 'import NAME [as OTHER] [from "PATH"];',
    'Makes the functions and objects of an extension available as `NAME.function()`. Without `from` it is a built-in one or a file in vmod_path.'),
  word('unused', 'unused NAME;',
    'Says that a backend, probe, acl or sub may stay unused, which else is an error.'),
  word('include', 'include [+glob] "FILE";',
    'Puts the text of a file in this place. It may stand anywhere, also inside a sub. `./FILE` is beside the including file; other relative names are looked for in vcl_path, then among the files of the package.'),
];

// biome-ignore format: a row is a line
export const STATEMENTS: readonly WordRow[] = [
  word('set', 'set VARIABLE OPERATOR EXPRESSION;',
    'Changes a variable. The operator is `=`, or `+=`, `-=`, `*=`, `/=`, which combine the old value with the new one. A header set to an unset value becomes empty; it is not removed.'),
  word('unset', 'unset VARIABLE;',
    'Removes a header, all of its lines. Unsetting one that does not exist does nothing. `unset bereq.body;` drops the body of a request to a backend. A timeout or limit that is unset has its default again.'),
  word('call', 'call SUB;',
    'Runs a sub. If it returns an action, the state ends with that action; otherwise the caller continues. A sub cannot call itself, directly or through others.'),
  word('return', 'return (ACTION); or return;',
    'Ends the state with an action. Without an action it leaves a called sub, and the caller continues; a state itself cannot use that form.'),
  word('if', 'if (CONDITION) { … } elseif (CONDITION) { … } else { … }',
    'Runs the first block whose condition holds. `elseif` may also be written `else if`, `elsif` or `elif`. Braces are required, also for one statement.'),
  word('new', 'new NAME = EXTENSION.TYPE(ARGUMENTS);',
    'Makes an object of an extension, such as a director. Only in vcl_init; the object lives as long as the program.'),
];

const flag = <F extends string>(flag: F, on: boolean, help: string) => ({ flag, on, help });

/** Flags of an acl, as in `acl NAME +log -pedantic { … }`; `on` is the default. */
// biome-ignore format: a row is a line
export const ACL_FLAGS = [
  flag('pedantic', true, 'Refuse a network whose address has bits beyond its mask, such as "192.0.2.1"/24. With `-pedantic` these bits are ignored.'),
  flag('log', false, 'Log each match and each failed match as a VCL_acl record.'),
  flag('fold', false, 'Leave out entries that are part of others, and join adjacent ones, with a warning for each; `+fold(-report)` does it without. Addresses match as before, but the log names other networks, joined ones with `fixed: folded`. The default with varnish_release=9.0.'),
  flag('table', false, 'Accepted and without effect: every acl is a table here.'),
] as const;

/** Flags of an include. */
// biome-ignore format: a row is a line
export const INCLUDE_FLAGS = [
  flag('glob', false, 'The name is a pattern with `*`, `?` and `[…]`: all matching files are included in the order of their names. No match is an error.'),
] as const;

// Functions of the language. The checker binds calls to these signatures; their helpers are in
// check/language-functions.ts.

export interface FunctionRow {
  readonly name: string;
  /** As of an extension's function. Arguments have no names, because calls cannot name them. */
  readonly signature: string;
  /** The call in the manual. */
  readonly syntax: string;
  /** Places as in protocol/tables/variables.ts; absent: everywhere. */
  readonly places?: string;
  /** Not in Varnish: programs may declare something of this name. */
  readonly ours?: true;
  readonly help: string;
}

function fn<const N extends string>(
  name: N,
  signature: string,
  syntax: string,
  help: string,
  facts?: Pick<FunctionRow, 'places' | 'ours'>,
): FunctionRow & { readonly name: N } {
  return { name, signature, syntax, help, ...facts };
}

// biome-ignore format: a row is a line
export const FUNCTIONS = [
  fn('regsub', 'STRING regsub(STRING, REGEX, STRING)', 'regsub(text, regex, replacement)',
    'The text with the first match of the regular expression replaced. In the replacement \\0 is the whole match and \\1 to \\9 are its groups; \\\\ is a backslash. Without a match the text is unchanged.'),
  fn('regsuball', 'STRING regsuball(STRING, REGEX, STRING)', 'regsuball(text, regex, replacement)', 'As regsub(), with every match replaced.'),
  fn('hash_data', 'VOID hash_data(STRING)', 'hash_data(text)',
    'Adds a text to the key of the object. Requests with the same parts in the same order share an object.', { places: 'hash' }),
  fn('synthetic', 'VOID synthetic(STRING)', 'synthetic(text)',
    'Adds a text to the body of the response that this state makes, as `set resp.body += …` and `set beresp.body += …` do.', { places: 'synth backend_error' }),
  fn('ban', 'VOID ban(STRING)', 'ban(expression)',
    'Invalidates all objects stored so far that match the expression. A wrong expression is logged (VCL_Error), and nothing is banned; std.ban() also returns whether it worked.'),
  fn('querysort', 'STRING querysort(STRING)', 'querysort(url)',
    'The URL with the parameters of its query in the order of their bytes, without empty ones. The same as std.querysort(). Not in Varnish.', { ours: true }),
] as const satisfies readonly FunctionRow[];

export type FunctionName = (typeof FUNCTIONS)[number]['name'];

// Attributes of backends and probes: type, default and meaning. The checker reads names and types, the daemon the
// defaults of probes, and the manual all of it.

export interface FieldRow {
  readonly name: string;
  readonly type: Type;
  /** The default in words or in VCL; '' if the attribute has none. */
  readonly default: string;
  readonly help: string;
  /** A BOOL that may be written as 1 or 0. */
  readonly digits?: true;
}

const field = <N extends string>(name: N, type: Type, absent: string, help: string) => ({
  name,
  type,
  default: absent,
  help,
});

const flagField = <N extends string>(name: N, absent: string, help: string) => ({
  ...field(name, 'BOOL', absent, help),
  digits: true as const,
});

// biome-ignore format: a row is a line
export const BACKEND_FIELDS = [
  field('host', 'STRING', '',
    'Address or host name, with or without a port: "192.0.2.1", "origin.example:8080". A name is resolved when the program is loaded; one with several addresses of a family needs `.resolve`. Either this or `.path` is required.'),
  field('port', 'STRING', '"80", or "443" with .ssl', 'Port, a number or the name of a service, in quotes.'),
  field('path', 'STRING', '', 'Absolute path of a Unix socket, instead of `.host`, or the name of an abstract one: `@name`. Version 4.1 only.'),
  field('host_header', 'STRING', 'the value of .host', 'The Host header of probes, and of requests that have none.'),
  field('connect_timeout', 'DURATION', 'parameter connect_timeout', 'How long connecting may take.'),
  field('first_byte_timeout', 'DURATION', 'parameter first_byte_timeout', 'How long the response may take to begin.'),
  field('between_bytes_timeout', 'DURATION', 'parameter between_bytes_timeout', 'How long the response may pause.'),
  field('max_connections', 'INT', '0, no limit', 'Most connections at the same time. A fetch beyond it waits, if `.wait_limit` and `.wait_timeout` let it, and else fails at once.'),
  field('wait_limit', 'INT', 'parameter backend_wait_limit', 'Most fetches that wait for a connection.'),
  field('wait_timeout', 'DURATION', 'parameter backend_wait_timeout', 'How long a fetch waits for a connection.'),
  field('proxy_header', 'INT', 'none', 'Version of the PROXY protocol to begin each connection with: 1 or 2.'),
  field('preamble', 'BLOB', 'none', 'Bytes to begin each connection with, in base64: `:AAEC:`.'),
  field('via', 'BACKEND', 'none', 'Another backend, declared before, to connect through: the connection is made to its address and begins with a preamble of the PROXY protocol, version 2, that names the address of this one and its `.authority`. That backend’s timeouts are the defaults of this one. It cannot have a `.via` itself, and not both may have `.ssl`.'),
  field('authority', 'STRING', 'the value of .host_header, else of .host', 'The name of this backend for that of `.via`; "" sends none. A port at its end is left out. It cannot be an address.'),
  field('probe', 'PROBE', 'probe default, if declared', 'The health check: the name of a probe, or `{ … }` with the attributes of one.'),
  flagField('ssl', '0', 'Whether TLS is spoken to the backend, 1 or 0: version 1.2 or 1.3, its certificate verified against the authorities of the system. Not together with `.path`. Its parts are in proxy-tls(7).'),
  flagField('ssl_sni', '1', 'Whether the backend is asked for its name (SNI). Addresses are never asked for.'),
  flagField('ssl_nosni', '0', 'The opposite of `.ssl_sni`.'),
  flagField('ssl_verify_peer', '1', 'Whether the certificate must come from a trusted authority.'),
  flagField('ssl_verify_host', 'the value of .ssl_verify_peer', 'Whether the certificate must have the name of the backend. Off in Varnish.'),
  flagField('ssl_noverify', '0', 'Accepts any certificate: both of the above off.'),
  field('ssl_ca', 'STRING', 'the authorities of the system', 'File with the certificates of the authorities to trust, and no others, in PEM. Files are named as for `include`, and read when the program is loaded. Not in Varnish 9.0.'),
  field('ssl_cert', 'STRING', 'none', 'File with a certificate to show to the backend, and the chain that signs it, in PEM. Not in Varnish.'),
  field('ssl_key', 'STRING', 'the file of .ssl_cert', 'File with the key of that certificate, in PEM and without a passphrase. It must not be readable by everybody. Not in Varnish.'),
  field('ssl_name', 'STRING', 'the host of .host_header, else of .host', 'The name that is asked for and that the certificate must have. Not in Varnish.'),
  field('resolve', 'DURATION', 'never', 'How often the name in `.host` is resolved again. Not in Varnish. All addresses found are used.'),
] as const;

/** Defaults of probes as the daemon uses them: those of Varnish. */
export const PROBE_DEFAULTS = {
  url: '/',
  expectedResponse: 200,
  timeout: 2,
  interval: 5,
  window: 8,
  threshold: 3,
};

const { url, expectedResponse, timeout, interval, window, threshold } = PROBE_DEFAULTS;

// biome-ignore format: a row is a line
export const PROBE_FIELDS = [
  field('url', 'STRING', `"${url}"`, 'Target of the request that is sent. Not together with `.request`.'),
  field('request', 'STRING', 'GET of .url with a Host header', 'The whole request, a string for each line, without line ends.'),
  field('expected_response', 'INT', `${expectedResponse}`, 'The status that counts as good, 100 to 999.'),
  field('expect_close', 'BOOL', 'true',
    'Whether the backend must close the connection before the timeout. With false what has come until then is judged, which takes a backend that closes nothing the whole timeout.'),
  field('timeout', 'DURATION', `${timeout}s`, 'How long a poll may take.'),
  field('interval', 'DURATION', `${interval}s`, 'Time from the start of one poll to the start of the next.'),
  field('initial', 'INT', '.threshold less 1',
    'Good polls to assume at the start. With the default the first poll decides; with .threshold or more the backend is healthy at once.'),
  field('window', 'INT', `${window}, or .threshold plus 1 if that is given`, 'How many of the latest polls count, 1 to 64. Needs `.threshold`.'),
  field('threshold', 'INT', `${threshold}`, 'How many of those must be good for the backend to be healthy.'),
] as const;

// Limits of programs that the compiler enforces.

interface LimitRow {
  readonly value: number;
  readonly help: string;
}

export const LIMITS = {
  /** Chosen; code of an expression is nested as deeply as its source. */
  expressionDepth: { value: 200, help: 'Levels of parentheses and calls in an expression.' },
  /** Chosen, for the same reason: a sum is as deep as it is long. */
  expressionOperators: { value: 800, help: 'Operators in a statement, without && and ||.' },
  /** Chosen: a generated function is nested as deeply as its source. */
  blockDepth: { value: 100, help: 'Levels of blocks in a sub.' },
  /** Chosen. */
  files: { value: 1000, help: 'Files of a program, with all includes.' },
  /** Varnish's. */
  headerName: { value: 126, help: 'Characters in the name of a header.' },
  /** Varnish's. */
  integerDigits: { value: 15, help: 'Digits of an INT.' },
  /** Varnish's. */
  realDigits: { value: 12, help: 'Digits of a REAL before its point.' },
  /** Varnish's. */
  realDecimals: { value: 3, help: 'Digits of a REAL after its point.' },
  /** Chosen: some milliseconds of work. */
  steps: { value: 1_000_000, help: 'Statements that one run of a state could execute, all calls included.' },
  /** Chosen: the stack has to hold them. */
  callDepth: { value: 500, help: 'Levels of calls.' },
  /** Limit of the platform's socket addresses. */
  socketPath: { value: 107, help: 'Characters in the path of a Unix socket.' },
  /** Bits of the bitmap in which polls are kept. */
  probeWindow: { value: 64, help: 'Polls in the window of a probe.' },
} as const satisfies Readonly<Record<string, LimitRow>>;

// All tables in one object, for the manual.

export const LANGUAGE = {
  declarations: DECLARATIONS,
  statements: STATEMENTS,
  aclFlags: ACL_FLAGS,
  includeFlags: INCLUDE_FLAGS,
  backendFields: BACKEND_FIELDS,
  probeFields: PROBE_FIELDS,
  types: TYPES,
  byteUnits: BYTE_UNIT_ROWS,
  timeUnits: TIME_UNIT_ROWS,
  members: MEMBERS,
  operators: OPERATORS,
  arithmetic: ARITHMETIC,
  comparable: COMPARABLE,
  assignable: ASSIGNABLE,
  functions: FUNCTIONS,
  limits: LIMITS,
};
