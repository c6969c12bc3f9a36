// Members of the objects that proxylog-json writes, one row each: the objects, their schema and proxylog-json(1) are made
// from them. The shape is that of varnishlog-json's manual page.

import type { TagName } from '../../protocol/tables/tags.ts';
import { SET_COOKIE } from './header-list.ts';
import { HANDLINGS, type TransactionFacts } from './transaction-facts.ts';

type Value = string | number | boolean | readonly string[] | Readonly<Record<string, string>>;

export interface ObjectField<Facts> {
  /** Names from the outside in, with points; `[]` behind a name makes it a list. */
  readonly path: string;
  readonly type: 'string' | 'number' | 'boolean' | 'strings' | 'map';
  /** Its only values. */
  readonly values?: readonly string[];
  /** Records that it comes from. */
  readonly tags: readonly TagName[];
  /** It is there in every object, also where -i or -x leave out its records. */
  readonly always?: true;
  /** Markdown. */
  readonly help: string;
  /** Undefined: there is no such record. For a member of a list, one value an element. */
  readonly value: (facts: Facts) => Value | undefined | readonly (Value | undefined)[];
}

type Row = ObjectField<TransactionFacts>;

/** Members that are objects or lists and in every object, also when empty. */
export const ALWAYS: readonly string[] = ['req', 'resp', 'timeline', 'links'];

export const OBJECT_FIELDS: readonly Row[] = [
  {
    path: 'req.headers',
    type: 'map',
    tags: ['ReqHeader', 'BereqHeader', 'ReqUnset', 'BereqUnset'],
    help: 'Header fields of the request, names in lower case; values of a repeated name are joined by a comma (Cookie: by a semicolon).',
    value: ({ req }) => (req.hasHeaders ? req.headers.joined() : undefined),
  },
  {
    path: 'req.method',
    type: 'string',
    tags: ['ReqMethod', 'BereqMethod'],
    help: 'Method.',
    value: ({ req }) => req.method,
  },
  {
    path: 'req.url',
    type: 'string',
    tags: ['ReqURL', 'BereqURL'],
    help: 'Target.',
    value: ({ req }) => req.url,
  },
  {
    path: 'req.proto',
    type: 'string',
    tags: ['ReqProtocol', 'BereqProtocol'],
    help: 'Protocol.',
    value: ({ req }) => req.proto,
  },
  {
    path: 'req.hdrBytes',
    type: 'number',
    tags: ['ReqAcct', 'BereqAcct', 'PipeAcct'],
    help: 'Bytes of the head.',
    value: ({ req }) => req.headBytes,
  },
  {
    path: 'req.bodyBytes',
    type: 'number',
    tags: ['ReqAcct', 'BereqAcct', 'PipeAcct'],
    help: 'Bytes of the body; of a tunnel those from the client.',
    value: ({ req }) => req.bodyBytes,
  },
  {
    path: 'resp.headers',
    type: 'map',
    tags: ['RespHeader', 'BerespHeader', 'RespUnset', 'BerespUnset'],
    help: 'Header fields of the response as those of the request, without Set-Cookie.',
    value: ({ resp }) => (resp.hasHeaders ? resp.headers.joined() : undefined),
  },
  {
    path: 'resp.set-cookie',
    type: 'strings',
    tags: ['RespHeader', 'BerespHeader', 'RespUnset', 'BerespUnset'],
    help: 'Values of Set-Cookie, one each.',
    value: ({ resp }) => some(resp.headers.all(SET_COOKIE)),
  },
  {
    path: 'resp.proto',
    type: 'string',
    tags: ['RespProtocol', 'BerespProtocol'],
    help: 'Protocol.',
    value: ({ resp }) => resp.proto,
  },
  {
    path: 'resp.status',
    type: 'number',
    tags: ['RespStatus', 'BerespStatus'],
    help: 'Status.',
    value: ({ resp }) => resp.status,
  },
  {
    path: 'resp.reason',
    type: 'string',
    tags: ['RespReason', 'BerespReason'],
    help: 'Reason phrase.',
    value: ({ resp }) => resp.reason,
  },
  {
    path: 'resp.hdrBytes',
    type: 'number',
    tags: ['ReqAcct', 'BereqAcct', 'PipeAcct'],
    help: 'Bytes of the head.',
    value: ({ resp }) => resp.headBytes,
  },
  {
    path: 'resp.bodyBytes',
    type: 'number',
    tags: ['ReqAcct', 'BereqAcct', 'PipeAcct'],
    help: 'Bytes of the body; of a tunnel those to the client.',
    value: ({ resp }) => resp.bodyBytes,
  },
  {
    path: 'handling',
    type: 'string',
    values: HANDLINGS,
    tags: ['VCL_call', 'VCL_return', 'Hit'],
    help: 'How a request or a fetch was handled; absent where the program was not asked, as of a malformed request.',
    value: ({ handling }) => handling,
  },
  {
    path: 'timeline[].name',
    type: 'string',
    tags: ['Timestamp'],
    help: 'What happened.',
    value: ({ timeline }) => timeline.map(({ name }) => name),
  },
  {
    path: 'timeline[].timestamp',
    type: 'number',
    tags: ['Timestamp'],
    help: 'When, in seconds since the epoch.',
    value: ({ timeline }) => timeline.map(({ timestamp }) => timestamp),
  },
  {
    path: 'side',
    type: 'string',
    values: ['client', 'backend'],
    tags: ['Begin'],
    always: true,
    help: 'Whether the other side is a client or a backend.',
    value: ({ side }) => side,
  },
  {
    path: 'id',
    type: 'string',
    tags: ['Begin'],
    always: true,
    help: 'Id of the transaction (vxid).',
    value: ({ id }) => id,
  },
  {
    path: 'vcl',
    type: 'string',
    tags: ['VCL_use'],
    help: 'Name of the program; behind a label, `via` and its name.',
    value: ({ vcl }) => vcl,
  },
  {
    path: 'client.rAddr',
    type: 'string',
    tags: ['ReqStart'],
    help: 'Address of the client; only of requests.',
    value: ({ client }) => client?.address,
  },
  {
    path: 'client.rPort',
    type: 'number',
    tags: ['ReqStart'],
    help: 'Its port.',
    value: ({ client }) => client?.port,
  },
  {
    path: 'client.sock',
    type: 'string',
    tags: ['ReqStart'],
    help: 'Name of the listener.',
    value: ({ client }) => client?.sock,
  },
  {
    path: 'backend.name',
    type: 'string',
    tags: ['BackendOpen'],
    help: 'Name of the backend; only of fetches. Of one made at run time that of its director.',
    value: ({ backend }) => backend?.name,
  },
  {
    path: 'backend.rAddr',
    type: 'string',
    tags: ['BackendOpen'],
    help: 'Its address.',
    value: ({ backend }) => backend?.address,
  },
  {
    path: 'backend.rPort',
    type: 'number',
    tags: ['BackendOpen'],
    help: 'Its port.',
    value: ({ backend }) => backend?.port,
  },
  {
    path: 'backend.connReused',
    type: 'boolean',
    tags: ['BackendOpen'],
    help: 'Whether the connection had been used before.',
    value: ({ backend }) => backend?.reused,
  },
  {
    path: 'storage',
    type: 'string',
    tags: ['Storage'],
    help: 'Kind and name of the storage that the object went to; only of fetches.',
    value: ({ storage }) => storage,
  },
  {
    path: 'errors',
    type: 'strings',
    tags: ['Error', 'VCL_Error', 'FetchError', 'VSL'],
    help: 'What went wrong, also that the transaction is incomplete.',
    value: ({ errors }) => some(errors),
  },
  {
    path: 'logs',
    type: 'strings',
    tags: ['VCL_Log'],
    always: true,
    help: 'Lines that the program logged with `std.log()`.',
    value: ({ logs }) => logs,
  },
  {
    path: 'links[].type',
    type: 'string',
    tags: ['Link'],
    help: '`req` or `bereq`: what kind of transaction came of this one.',
    value: ({ links }) => links.map(({ type }) => type),
  },
  {
    path: 'links[].id',
    type: 'string',
    tags: ['Link'],
    help: 'Its id.',
    value: ({ links }) => links.map(({ id }) => id),
  },
  {
    path: 'links[].reason',
    type: 'string',
    tags: ['Link'],
    help: 'Why: `fetch`, `bgfetch`, `pass`, `pipe`, `esi`, `restart`, `retry`.',
    value: ({ links }) => links.map(({ reason }) => reason),
  },
];

function some(texts: readonly string[]): readonly string[] | undefined {
  return texts.length === 0 ? undefined : texts;
}
