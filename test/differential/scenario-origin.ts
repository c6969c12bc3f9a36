// Responses of a scenario's origin, as text: serve /url | Header: value | @gzip | @chunked 5 | =body `@status 404 Not
// Found`; `@gzip` compresses the body. `@keep N` keeps only the first N bytes of the (compressed) body, counted from
// its end if N is negative, `@times N` repeats it and `@append text` adds to it, each with a matching length; `@flip
// N` changes one of its bytes. `@chunked N` sends chunks of N bytes, `@pause MS` with a wait before each; `@eof`
// omits the length and closes; `@cut N` sends the first N bytes and closes a moment later; `@wait MS` waits before
// the response, `@lines MS` before each line of its head but the first, and `@reset` resets the connection after it.
// A scenario may answer conditional requests with `@304`. The body supports \n, \r, \t, \\ and \xHH; without
// Cache-Control the response may be stored for 100 seconds.
import { gzipSync } from 'node:zlib';
import {
  type Action,
  type OriginRequest,
  type Reply,
  type ReplyMaker,
  respondChunked,
} from '../harness/origin.ts';

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '\\': '\\' };

export function unescaped(text: string): string {
  return text.replace(/\\(?:x([0-9a-f]{2})|(.))/gi, (whole, hex: string | undefined, one: string) =>
    hex === undefined ? (ESCAPES[one] ?? whole) : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

/** The URL and its reply from the words after `serve`. */
export function served(text: string): { url: string; reply: Reply | ReplyMaker } {
  const at = text.indexOf(' | =');
  const [url = '', ...parts] = (at < 0 ? text : text.slice(0, at)).split(' | ');
  const plain = Buffer.from(at < 0 ? '' : unescaped(text.slice(at + 4)), 'latin1');
  const options = new Map(parts.filter((p) => p.startsWith('@')).map((p) => cut(p.slice(1), ' ')));
  const fields = Object.fromEntries(parts.filter((p) => !p.startsWith('@')).map((p) => cut(p, ': ')));
  if (!Object.keys(fields).some((n) => /^cache-control$/i.test(n))) fields['Cache-Control'] = 'max-age=100';
  let body = plain;
  if (options.has('gzip')) {
    body = gzipSync(plain);
    fields['Content-Encoding'] ??= 'gzip';
  }
  if (options.has('keep')) body = body.subarray(0, Number(options.get('keep')));
  body = Buffer.concat(Array.from({ length: Number(options.get('times') ?? 1) }, () => body));
  body = Buffer.concat([body, Buffer.from(unescaped(options.get('append') ?? ''), 'latin1')]);
  const flip = options.get('flip');
  if (flip !== undefined) {
    const place = (Number(flip) + body.length) % body.length;
    body[place] = (body[place] ?? 0) ^ 0xff;
  }
  const reply = actions(options, fields, body);
  const ofHead = reply.map((action) => ('send' in action ? { send: headOf(action.send) } : action));
  const unchanged = `HTTP/1.1 304 Not Modified\r\nCache-Control: ${fields['Cache-Control']}\r\n\r\n`;
  const make = (request: OriginRequest): Reply => {
    if (options.has('lines')) return inLines(reply, Number(options.get('lines')));
    if (options.has('304') && /^if-(?:none-match|modified-since):/im.test(request.head))
      return [{ send: unchanged }];
    return request.head.startsWith('HEAD ') ? ofHead : reply;
  };
  return { url: url.trim(), reply: make };
}

function actions(options: Map<string, string>, fields: Record<string, string>, body: Buffer): Reply {
  const status = options.get('status') ?? '200 OK';
  const before: Action[] = options.has('wait') ? [{ wait: Number(options.get('wait')) }] : [];
  const short = options.get('cut');
  const bytes = short === undefined ? body : body.subarray(0, Number(short));
  const over: Action[] = options.has('reset')
    ? [{ reset: true }]
    : options.has('eof')
      ? [{ close: true }]
      : [];
  // Delivers the received bytes before the fetch fails.
  if (short !== undefined) over.splice(0, 1, { wait: 150 }, { close: true });
  const chunk = options.get('chunked');
  if (chunk !== undefined) {
    const chunks: Buffer[] = [];
    for (let i = 0; i < bytes.length; i += Number(chunk)) chunks.push(bytes.subarray(i, i + Number(chunk)));
    const all = respondChunked(status, fields, chunks, Number(options.get('pause') ?? 0));
    return [...before, ...(short === undefined ? all : all.slice(0, -1)), ...over];
  }
  const head = Object.entries(fields).map(([n, v]) => `${n}: ${v}\r\n`);
  const length = options.has('eof') ? '' : `Content-Length: ${body.length}\r\n`;
  const text = `HTTP/1.1 ${status}\r\n${head.join('')}${length}\r\n`;
  // A read that started with the head would continue until the connection ends.
  if (short !== undefined) return [...before, { send: text }, { wait: 50 }, { send: bytes }, ...over];
  return [...before, { send: Buffer.concat([Buffer.from(text, 'latin1'), bytes]) }, ...over];
}

/** The head of a reply line by line, each after a pause. */
function inLines(reply: Reply, pause: number): Reply {
  return reply.flatMap((action): Action[] => {
    if (!('send' in action)) return [action];
    const lines = Buffer.from(action.send as string, 'latin1')
      .toString('latin1')
      .split(/(?<=\r\n)/);
    return lines.flatMap((line, i): Action[] => {
      const send = { send: Buffer.from(line, 'latin1') };
      return i === 0 ? [send] : [{ wait: pause }, send];
    });
  });
}

function cut(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + mark.length)];
}

/** The response's head as sent: all of the response to a HEAD. */
function headOf(bytes: string | Buffer): Buffer {
  const all = Buffer.from(bytes as string, 'latin1');
  const end = all.indexOf('\r\n\r\n');
  return end < 0 ? Buffer.alloc(0) : all.subarray(0, end + 4);
}
