// Specifiers of access log formats, one row each: read by the format parser, the renderer and proxy-ncsa(7).

/** The value that a specifier prints. `integer` pieces are null in JSON if missing. */
export type Piece =
  | { kind: 'text'; text: string }
  | { kind: 'fact'; fact: FactName; integer: boolean; otherwise: string }
  | { kind: 'request-line' | 'user' | 'side' | 'vxid' | 'hitmiss' | 'handling' }
  | { kind: 'time'; format: string }
  | { kind: 'duration'; unit: DurationUnit }
  | { kind: 'request-header' | 'response-header'; watch: number }
  | { kind: 'std-log'; watch: number }
  | { kind: 'record'; watch: number };

export type FactName = 'b' | 'H' | 'h' | 'I' | 'm' | 'O' | 'q' | 's' | 'U' | 'firstByte';

export const DEFAULT_FORMAT = '%h %l %u %t "%r" %s %b "%{Referer}i" "%{User-agent}i"';
/** `%{Proxy:default_format}x`, in place of which DEFAULT_FORMAT is read. */
export const DEFAULT_FORMAT_VARIABLE = 'default_format';
const TIME_FORMAT = '[%d/%b/%Y:%T %z]';

/** Units of durations, and their number per second. */
export const DURATION_UNITS = [
  { unit: 's', perSecond: 1, help: 'Seconds.' },
  { unit: 'ms', perSecond: 1e3, help: 'Milliseconds.' },
  { unit: 'us', perSecond: 1e6, help: 'Microseconds.' },
] as const satisfies readonly { unit: string; perSecond: number; help: string }[];

export type DurationUnit = (typeof DURATION_UNITS)[number]['unit'];

export interface SimpleRow {
  letter: string;
  piece: Piece;
  /** Description for client requests. */
  help: string;
  /** Description for backend requests, if different. */
  backend?: string;
}

/** `%` and a letter. */
export const SIMPLE: readonly SimpleRow[] = [
  {
    letter: 'b',
    piece: { kind: 'fact', fact: 'b', integer: true, otherwise: '-' },
    help: 'Bytes of body sent, `-` without any.',
    backend: 'bytes of the body that was received.',
  },
  {
    letter: 'D',
    piece: { kind: 'duration', unit: 'us' },
    help: 'Microseconds from the start of the request to the last byte of the response; `%{us}T` is the same.',
    backend: 'microseconds until the whole body was there.',
  },
  {
    letter: 'H',
    piece: { kind: 'fact', fact: 'H', integer: false, otherwise: 'HTTP/1.0' },
    help: 'Protocol of the request, `HTTP/1.0` where none is known.',
  },
  {
    letter: 'h',
    piece: { kind: 'fact', fact: 'h', integer: false, otherwise: '-' },
    help: 'Address of the client.',
    backend: 'address of the backend.',
  },
  {
    letter: 'I',
    piece: { kind: 'fact', fact: 'I', integer: true, otherwise: '-' },
    help: 'Bytes received from the client, the head included.',
    backend: 'bytes sent to the backend.',
  },
  { letter: 'l', piece: { kind: 'text', text: '-' }, help: 'Always `-`: identd is not queried.' },
  {
    letter: 'm',
    piece: { kind: 'fact', fact: 'm', integer: false, otherwise: '-' },
    help: 'Method of the request.',
  },
  {
    letter: 'O',
    piece: { kind: 'fact', fact: 'O', integer: true, otherwise: '-' },
    help: 'Bytes sent to the client, the head included.',
    backend: 'bytes received from the backend.',
  },
  {
    letter: 'q',
    piece: { kind: 'fact', fact: 'q', integer: false, otherwise: '' },
    help: 'Query of the URL with its question mark, nothing where it has none.',
  },
  {
    letter: 'r',
    piece: { kind: 'request-line' },
    help: 'A request line put together as `%m http://HOST%U%q %H`, with the first Host header or `localhost`; not the line that came.',
  },
  {
    letter: 's',
    piece: { kind: 'fact', fact: 's', integer: true, otherwise: '-' },
    help: 'Status sent to the client.',
    backend: 'status received from the backend.',
  },
  {
    letter: 't',
    piece: { kind: 'time', format: TIME_FORMAT },
    help: `When the request began, as \`%{${TIME_FORMAT}}t\` has it.`,
    backend: 'when the fetch began.',
  },
  {
    letter: 'T',
    piece: { kind: 'duration', unit: 's' },
    help: 'The same as `%D` in whole seconds.',
  },
  {
    letter: 'U',
    piece: { kind: 'fact', fact: 'U', integer: false, otherwise: '-' },
    help: 'URL without its query.',
  },
  {
    letter: 'u',
    piece: { kind: 'user' },
    help: 'User name of `Authorization: Basic`, `-` without one. Nobody has checked it here.',
  },
];

/** `%{Proxy:name}x`; Varnish's name of the family works as well. */
export const VARIABLES: readonly { name: string; piece: Piece; help: string }[] = [
  {
    name: 'time_firstbyte',
    piece: { kind: 'fact', fact: 'firstByte', integer: true, otherwise: '-' },
    help: 'Seconds until the response began; for a backend until its head was there.',
  },
  {
    name: 'hitmiss',
    piece: { kind: 'hitmiss' },
    help: '`hit`, or `miss` for all that was no hit: passed, piped and synthetic responses, too.',
  },
  {
    name: 'handling',
    piece: { kind: 'handling' },
    help: '`hit`, `miss`, `pass`, `pipe` or `synth`: the way of the request; `-` where none is known. With the release 9.0 of `--release` also `hitmiss` and `hitpass`, where a marker decided it.',
  },
  { name: 'side', piece: { kind: 'side' }, help: '`c` for a request of a client, `b` for one to a backend.' },
  { name: 'vxid', piece: { kind: 'vxid' }, help: 'Id of the transaction, as `X-Proxy-Id` has it.' },
];

/** Words accepted in place of a strftime(3) format. Times are in epoch seconds. */
export const TIME_WORDS: readonly { word: string; help: string; text(t: number): string }[] = [
  { word: 'sec', help: 'Seconds since the epoch.', text: (t) => whole(t) },
  { word: 'msec', help: 'Milliseconds since the epoch.', text: (t) => whole(t * 1e3) },
  { word: 'usec', help: 'Microseconds since the epoch.', text: (t) => whole(t * 1e6) },
  { word: 'msec_frac', help: 'Milliseconds within the second.', text: (t) => fraction(t, 3) },
  { word: 'usec_frac', help: 'Microseconds within the second.', text: (t) => fraction(t, 6) },
];

/** Truncates: 1.9 is 1, and there is no -0. */
export function whole(n: number): string {
  return String(Math.trunc(n) + 0);
}

function fraction(t: number, digits: number): string {
  return whole((t - Math.trunc(t)) * 10 ** digits).padStart(digits, '0');
}

/** A backslash and a letter; before any other character the backslash is dropped. */
export const ESCAPES: readonly { letter: string; text: string; help: string }[] = [
  { letter: 'n', text: '\n', help: 'The end of a line.' },
  { letter: 't', text: '\t', help: 'A tab.' },
];

/** `%{argument}` and a letter. The parser interprets the argument. */
export const BRACKETED = [
  {
    letter: 'i',
    argument: 'NAME',
    help: 'The request header of this name, in any case; the last one of several, also if the program set it. With the release 9.0 of `--release` the first one of a client before the program changed it; with `-b` the last one that was sent.',
  },
  {
    letter: 'o',
    argument: 'NAME',
    help: 'The response header of this name; the last one of several. With the release 9.0 of `--release` the last one that the client got; with `-b` the first one that the backend sent.',
  },
  {
    letter: 'i',
    argument: 'NAME:first',
    help: 'The first one of several, those that the program set included; with `NAME:last` the last one, also if it was removed. So for `o`.',
  },
  {
    letter: 't',
    argument: 'FORMAT',
    help: 'When the request began, in local time, in a format of strftime(3) or by one of the words below.',
  },
  { letter: 'T', argument: 'UNIT', help: 'How long it took, in whole units: see below.' },
  { letter: 'x', argument: 'FAMILY:NAME', help: 'Anything else, by the families below.' },
] as const satisfies readonly { letter: string; argument: string; help: string }[];

/** Families of `%{…}x`. */
export const FAMILIES = [
  {
    names: ['Proxy', 'Varnish'],
    argument: 'NAME',
    help: 'What the proxy made of the request: the variables below.',
  },
  {
    names: ['VCL_Log'],
    argument: 'KEY',
    help: 'The value logged by `std.log("KEY:value")`: the first of several, empty without one.',
  },
  {
    names: ['VSL'],
    argument: 'TAG[:PREFIX][[FIELD]]',
    help: 'The first log record of this tag (see proxy-log(7)), or of those the first that begins with PREFIX and a colon: what follows that, or of it the field of this number, counted from 1 to 255 and cut at blanks. Tags whose text is no text need `-j`.',
  },
] as const satisfies readonly { names: readonly string[]; argument: string; help: string }[];
