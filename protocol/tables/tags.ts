// All log tags: one row each, with the numbers of Varnish 7.1's log, so that recordings of both are interchangeable.
// The row's position is its number (the first row is 1): append only. Special case: each message family has Method
// URL Protocol Status Reason Header Unset Lost in a row, including members that are never logged (`unused`), because
// HttpMessage computes tags by offset from the Method tag.

/** Properties of a tag's payload. `binary`: may contain any byte, shown quoted with %xx (or in hex if `hex` is set).
 * `unsafe`: text from the peer, may contain control bytes. `unused`: reserved; Varnish treats those of the message
 * families as binary. */
export type TagFlag = 'binary' | 'hex' | 'unsafe' | 'unused';

export interface TagRow {
  readonly name: string;
  readonly flags: readonly TagFlag[];
  readonly help: string;
  /** False if proxyd never logs it: it exists for recordings of Varnish. Not needed with `unused`. */
  readonly written?: false;
  /** True if Varnish 7.1 does not have it: abbreviations of Varnish's tags keep their meaning beside it. */
  readonly own?: true;
}

// biome-ignore format: a row is a line
export const TAGS = [
  { name: 'Debug', flags: ['binary'], help: 'Development aid; free text without promises' },
  { name: 'Error', flags: [], help: 'Something an operator should look at' },
  { name: 'CLI', flags: [], help: 'Traffic between manager and worker on the admin channel' },
  { name: 'SessOpen', flags: [], help: 'A client connection was accepted' },
  { name: 'SessClose', flags: [], help: 'A client connection ended: reason and age in seconds' },
  { name: 'BackendOpen', flags: [], help: 'A backend connection was opened or taken from the pool' },
  { name: 'BackendReuse', flags: [], help: 'A backend connection was put up for reuse: descriptor and backend' },
  { name: 'BackendClose', flags: [], help: 'A backend connection was closed or returned to the pool' },
  { name: 'HttpGarbage', flags: ['binary'], help: 'Client bytes that are not an HTTP request' },
  { name: 'Proxy', flags: [], help: 'Addresses in a PROXY header' },
  { name: 'ProxyGarbage', flags: ['unsafe'], help: 'Bytes that are not a valid PROXY header' },
  { name: 'Backend', flags: ['unused'], help: 'Formerly: the backend chosen for a request' },
  { name: 'Length', flags: [], help: 'Size of the fetched body in bytes' },
  { name: 'FetchError', flags: [], help: 'Why a fetch failed' },
  { name: 'ReqMethod', flags: ['unsafe'], help: 'Method of the client request' },
  { name: 'ReqURL', flags: ['unsafe'], help: 'Target of the client request' },
  { name: 'ReqProtocol', flags: ['unsafe'], help: 'Protocol version of the client request' },
  { name: 'ReqStatus', flags: ['unused', 'binary'], help: 'Unused: a request has no status' },
  { name: 'ReqReason', flags: ['unused', 'binary'], help: 'Unused: a request has no reason' },
  { name: 'ReqHeader', flags: ['unsafe'], help: 'Client request field, received or set' },
  { name: 'ReqUnset', flags: ['unsafe'], help: 'Client request field removed' },
  { name: 'ReqLost', flags: ['unused', 'binary'], help: 'Unused: see LostHeader' },
  { name: 'RespMethod', flags: ['unused', 'binary'], help: 'Unused: a response has no method' },
  { name: 'RespURL', flags: ['unused', 'binary'], help: 'Unused: a response has no target' },
  { name: 'RespProtocol', flags: [], help: 'Protocol version of the response' },
  { name: 'RespStatus', flags: [], help: 'Status of the response' },
  { name: 'RespReason', flags: [], help: 'Reason phrase of the response' },
  { name: 'RespHeader', flags: [], help: 'Response field, copied from the object or set' },
  { name: 'RespUnset', flags: [], help: 'Response field removed' },
  { name: 'RespLost', flags: ['unused', 'binary'], help: 'Unused: see LostHeader' },
  { name: 'BereqMethod', flags: [], help: 'Method of the backend request' },
  { name: 'BereqURL', flags: [], help: 'Target of the backend request' },
  { name: 'BereqProtocol', flags: [], help: 'Protocol version of the backend request' },
  { name: 'BereqStatus', flags: ['unused', 'binary'], help: 'Unused: a request has no status' },
  { name: 'BereqReason', flags: ['unused', 'binary'], help: 'Unused: a request has no reason' },
  { name: 'BereqHeader', flags: [], help: 'Backend request field' },
  { name: 'BereqUnset', flags: [], help: 'Backend request field removed' },
  { name: 'BereqLost', flags: ['unused', 'binary'], help: 'Unused: see LostHeader' },
  { name: 'BerespMethod', flags: ['unused', 'binary'], help: 'Unused: a response has no method' },
  { name: 'BerespURL', flags: ['unused', 'binary'], help: 'Unused: a response has no target' },
  { name: 'BerespProtocol', flags: ['unsafe'], help: 'Protocol version of the backend response' },
  { name: 'BerespStatus', flags: ['unsafe'], help: 'Status of the backend response' },
  { name: 'BerespReason', flags: ['unsafe'], help: 'Reason phrase of the backend response' },
  { name: 'BerespHeader', flags: ['unsafe'], help: 'Backend response field, received or set' },
  { name: 'BerespUnset', flags: ['unsafe'], help: 'Backend response field removed' },
  { name: 'BerespLost', flags: ['unused', 'binary'], help: 'Unused: see LostHeader' },
  { name: 'ObjMethod', flags: ['unused', 'binary'], help: 'Unused: an object has no method' },
  { name: 'ObjURL', flags: ['unused', 'binary'], help: 'Unused: an object has no target' },
  { name: 'ObjProtocol', flags: [], help: 'Protocol version kept with the object' },
  { name: 'ObjStatus', flags: [], help: 'Status kept with the object' },
  { name: 'ObjReason', flags: [], help: 'Reason phrase kept with the object' },
  { name: 'ObjHeader', flags: [], help: 'Field kept with the object' },
  { name: 'ObjUnset', flags: [], help: 'Object field removed', written: false },
  { name: 'ObjLost', flags: ['unused', 'binary'], help: 'Unused: see LostHeader' },
  { name: 'BogoHeader', flags: ['unsafe'], help: 'The start of a header line that made no sense' },
  { name: 'LostHeader', flags: [], help: 'A field that found no room' },
  { name: 'TTL', flags: [], help: 'Freshness of an object and where it came from' },
  { name: 'Fetch_Body', flags: [], help: 'How the backend body is framed and stored' },
  { name: 'VCL_acl', flags: [], help: 'Result of a match against an access list' },
  { name: 'VCL_call', flags: [], help: 'A config subroutine was entered' },
  { name: 'VCL_trace', flags: [], help: 'Place in the config program being run' },
  { name: 'VCL_return', flags: [], help: 'The action a config subroutine ended with' },
  { name: 'ReqStart', flags: [], help: 'A request began: client address, port and listener' },
  { name: 'Hit', flags: [], help: 'A cached object was found: its id, ttl, grace and keep' },
  { name: 'HitPass', flags: [], help: 'A hit-for-pass mark was found' },
  { name: 'ExpBan', flags: [], help: 'An object was removed by a ban' },
  { name: 'ExpKill', flags: [], help: 'Expiry and eviction of objects' },
  { name: 'WorkThread', flags: [], help: 'A worker thread began or ended', written: false },
  { name: 'ESI_xmlerror', flags: [], help: 'An error or warning of the ESI parser' },
  { name: 'Hash', flags: ['binary'], help: 'A part of the lookup key' },
  { name: 'Backend_health', flags: [], help: 'Result of a health probe' },
  { name: 'VCL_Log', flags: [], help: 'A log line of the config program' },
  { name: 'VCL_Error', flags: [], help: 'The config program failed: why' },
  { name: 'Gzip', flags: [], help: 'Compression or decompression: kind and byte counts' },
  { name: 'Link', flags: [], help: 'A child transaction: type, id and reason' },
  { name: 'Begin', flags: [], help: 'First record of a transaction: type, parent id and reason' },
  { name: 'End', flags: [], help: 'Last record of a transaction' },
  { name: 'VSL', flags: [], help: 'A remark of the log reader itself' },
  { name: 'Storage', flags: [], help: 'The storage an object went to' },
  { name: 'Timestamp', flags: [], help: 'A moment: absolute, since the start, since the last one' },
  { name: 'ReqAcct', flags: [], help: 'Bytes of a client request and its response' },
  { name: 'PipeAcct', flags: [], help: 'Bytes through a pipe' },
  { name: 'BereqAcct', flags: [], help: 'Bytes of a backend request and its response' },
  { name: 'VfpAcct', flags: [], help: 'Calls and bytes of a fetch filter' },
  { name: 'Witness', flags: [], help: 'Lock order diagnosis', written: false },
  { name: 'BackendStart', flags: [], help: 'A request to a backend begins: address and port of the backend' },
  { name: 'H2RxHdr', flags: ['binary', 'hex'], help: 'HTTP/2 frame header received' },
  { name: 'H2RxBody', flags: ['binary', 'hex'], help: 'HTTP/2 frame payload received' },
  { name: 'H2TxHdr', flags: ['binary', 'hex'], help: 'HTTP/2 frame header sent' },
  { name: 'H2TxBody', flags: ['binary', 'hex'], help: 'HTTP/2 frame payload sent' },
  { name: 'HitMiss', flags: [], help: 'A hit-for-miss mark was found: its id and remaining ttl' },
  { name: 'Filters', flags: [], help: 'Body filters in use' },
  { name: 'SessError', flags: [], help: 'A client broke the rules of HTTP/2, with varnish_release=9.0; in Varnish also: accepting a connection failed' },
  { name: 'VCL_use', flags: [], help: 'The config program a task runs' },
  { name: 'Notice', flags: [], help: 'An unusual but handled situation' },
  { name: 'VdpAcct', flags: [], help: 'Calls and bytes of a delivery filter' },
  { name: 'TLS', flags: ['unsafe'], help: 'A TLS handshake of a client: what was agreed on, or why it failed', own: true },
  { name: 'BackendSSL', flags: [], help: 'A TLS handshake with a backend: what was agreed on, or why it failed', own: true },
  { name: 'ReqTarget', flags: ['unsafe'], help: 'Target of the client request as it came, before its host was taken from it', own: true },
] as const satisfies readonly TagRow[];

export type TagName = (typeof TAGS)[number]['name'];

/** Number of a tag by name: Tag.ReqMethod is 15. */
export const Tag = Object.freeze(
  Object.fromEntries(TAGS.map((row, i) => [row.name, i + 1])) as { [N in TagName]: number },
);

export function isWritten(row: TagRow): boolean {
  return row.written !== false && !row.flags.includes('unused');
}

/** The row of a tag number, undefined for an unknown one. */
export function tagRow(tag: number): TagRow | undefined {
  return TAGS[tag - 1];
}

const LOWER = TAGS.map((row) => row.name.toLowerCase());
const OWN = TAGS.findIndex((row: TagRow) => row.own === true);
/** Where prefixes are looked for: first among Varnish's tags, so that ours make none of its abbreviations ambiguous. */
const KINDS = [LOWER.slice(0, OWN), LOWER];

/** The number of a tag by its name in any case, or by a prefix that is unique among Varnish's tags or, where none of them has
 * it, among ours. All tools parse single tag names with it. */
export function tagNamed(text: string): number | 'none' | 'ambiguous' {
  const name = text.toLowerCase();
  if (name === '') return 'none';
  const exact = LOWER.indexOf(name);
  if (exact >= 0) return exact + 1;
  for (const names of KINDS) {
    const first = names.findIndex((n) => n.startsWith(name));
    if (first < 0) continue;
    return names.findLastIndex((n) => n.startsWith(name)) === first ? first + 1 : 'ambiguous';
  }
  return 'none';
}

/** Tags that are only logged if vsl_mask enables them. */
export const MASKED_BY_DEFAULT: readonly TagName[] = [
  'Debug',
  'ObjProtocol',
  'ObjStatus',
  'ObjReason',
  'ObjHeader',
  'VCL_trace',
  'ExpKill',
  'WorkThread',
  'Hash',
  'VfpAcct',
  'H2RxHdr',
  'H2RxBody',
  'H2TxHdr',
  'H2TxBody',
  'VdpAcct',
  'BackendReuse',
  'BackendStart',
  'ReqTarget',
];
