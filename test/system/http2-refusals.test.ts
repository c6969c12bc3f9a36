// Every rule for heads of HTTP/2 (RFC 9113 section 8), over a connection: what is reset, its words in the log, its counter
// alone, and a connection that serves on.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { REFUSALS, type RefusalRow } from '../../protocol/tables/refusals.ts';
import { type Field, hpackLiterals } from '../harness/hpack-text.ts';
import { Http2Client } from '../harness/http2-client.ts';
import { FLAG, FRAME, frame } from '../harness/http2-frames.ts';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-http2-refusals');
let origin: Origin;
let proxy: RunningProxy;

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', respond('200 OK', {}, 'fine'));
  proxy = await startProxy(box, {
    program: backendProgram(origin.port),
    args: ['-p', 'feature=+http2', '-p', 'h2_rapid_reset_limit=0'],
  });
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

const METHOD: Field = [':method', 'GET'];
const SCHEME: Field = [':scheme', 'http'];
const PATH: Field = [':path', '/'];
const AUTHORITY: Field = [':authority', 'a.example'];
const head = (...more: readonly Field[]): readonly Field[] => [METHOD, SCHEME, PATH, AUTHORITY, ...more];

/** PROTOCOL_ERROR resets the stream; a head that has one reading gets an answer. */
const RESET = 1;

/** By the name of the rule: a head that breaks it, and the end of its stream, a code or a status. */
const HEADS: Readonly<Record<string, readonly [fields: readonly Field[], end: number]>> = {
  method: [[[':method', 'GET /x'], SCHEME, PATH, AUTHORITY], RESET],
  name_empty: [head(['', 'x']), RESET],
  name_token: [head(['a b', 'x']), RESET],
  value_control: [head(['x', 'a\r\nb: c']), RESET],
  length_invalid: [head(['content-length', 'x']), RESET],
  length_conflict: [head(['content-length', '1'], ['content-length', '2']), RESET],
  line_long: [head(['x', 'x'.repeat(9000)]), 400],
  fields_many: [head(...Array.from({ length: 70 }, (): Field => ['x', 'y'])), 400],
  overflow: [head(...Array.from({ length: 10 }, (): Field => ['x', 'x'.repeat(4000)])), 400],
  connect: [[[':method', 'CONNECT'], SCHEME, AUTHORITY], RESET],
  name_case: [head(['X-a', '1']), RESET],
  value_blank: [head(['x', ' 1']), RESET],
  connection_field: [head(['connection', 'close']), RESET],
  te: [head(['te', 'gzip']), RESET],
  pseudo_unknown: [[...head(), [':status', '200']], RESET],
  scheme: [[METHOD, [':scheme', 'ftp'], PATH, AUTHORITY], RESET],
  path_empty: [[METHOD, SCHEME, [':path', ''], AUTHORITY], RESET],
  path: [[METHOD, SCHEME, [':path', 'a'], AUTHORITY], RESET],
  authority: [[METHOD, SCHEME, PATH, [':authority', 'me@a.example']], RESET],
  pseudo_repeated: [[...head(), PATH], RESET],
  pseudo_late: [[METHOD, SCHEME, PATH, ['x', '1'], AUTHORITY], RESET],
  pseudo_trailer: [[], RESET],
  method_missing: [[SCHEME, PATH, AUTHORITY], RESET],
  scheme_missing: [[METHOD, PATH, AUTHORITY], RESET],
  path_missing: [[METHOD, SCHEME, AUTHORITY], RESET],
  path_asterisk: [[METHOD, SCHEME, [':path', '*'], AUTHORITY], RESET],
  length_short: [head(['content-length', '5']), RESET],
  length_zero: [head(['content-length', '0']), RESET],
  host_differs: [head(['host', 'b.example']), RESET],
};

const ROWS: ReadonlyMap<string, RefusalRow> = new Map(REFUSALS.map((row) => [row.name, row]));

/** The counters of refusals that are not at zero. */
async function refused(): Promise<Record<string, number>> {
  const counters = await proxy.counters();
  return Object.fromEntries(
    Object.entries(counters).filter(([name, n]) => name.includes('.refused_') && n > 0),
  );
}

/** A head in as many frames as it needs. */
function framesOf(stream: number, fields: readonly Field[]): Buffer {
  const block = hpackLiterals(fields);
  const pieces: Buffer[] = [];
  for (let at = 0; at === 0 || at < block.length; at += 16384) {
    const isLast = at + 16384 >= block.length;
    const flags = (at === 0 ? FLAG.END_STREAM : 0) | (isLast ? FLAG.END_HEADERS : 0);
    const type = at === 0 ? FRAME.HEADERS : FRAME.CONTINUATION;
    pieces.push(frame(type, flags, stream, block.subarray(at, at + 16384)));
  }
  return Buffer.concat(pieces);
}

describe('every rule for a head of HTTP/2', () => {
  it('has a head here', () => {
    const own = [...ROWS.values()].filter((row) => row.http2Only === true).map((row) => row.name);
    expect(Object.keys(HEADS)).toEqual(expect.arrayContaining(own));
  });

  it.each(Object.keys(HEADS))(
    '%s has its words, its counter and an end of the stream alone',
    async (name) => {
      const [fields, end] = HEADS[name] ?? [[], 0];
      const text = ROWS.get(name)?.text ?? '';
      const before = await refused();
      const client = await Http2Client.connect(proxy.port);
      if (name === 'pseudo_trailer') {
        const trailers = hpackLiterals([[':path', '/']]);
        client.send(
          // One whose answer waits for its body.
          frame(FRAME.HEADERS, FLAG.END_HEADERS, 1, hpackLiterals([[':method', 'POST'], ...head().slice(1)])),
          frame(FRAME.HEADERS, FLAG.END_HEADERS | FLAG.END_STREAM, 1, trailers),
        );
      } else if (name === 'length_zero') {
        // The head of a request that nobody has begun when the byte comes.
        client.send(
          frame(FRAME.HEADERS, FLAG.END_HEADERS, 1, hpackLiterals(fields)),
          frame(FRAME.DATA, 0, 1, 'a'),
        );
      } else client.send(framesOf(1, fields));
      const { reset, status } = await client.response(1);
      expect(end === RESET ? reset : status, client.reported()).toBe(end);
      client.send(framesOf(3, head()));
      expect((await client.response(3)).status).toBe(200);
      client.close();
      const log = await until('the record', async () => {
        const found = (await proxy.log('-g', 'raw', '-i', 'Error'))
          .split('\n')
          .filter((l) => l.includes(text));
        return found.length > 0 ? found : null;
      });
      expect(log.length).toBe(1);
      const part = name === 'pseudo_trailer' ? 'request body' : 'request';
      expect(log[0]).toContain(` ${part} refused: ${text}`);
      const counter = `MAIN.refused_${name}`;
      let now: Record<string, number> = {};
      await until('the counter', async () => {
        now = await refused();
        return counter in now;
      });
      expect(now).toEqual({ ...before, [counter]: 1 });
    },
  );

  it('CONNECT is refused as over HTTP/1, and reaches no origin', async () => {
    const before = origin.requests.length;
    const client = await Http2Client.connect(proxy.port);
    client.send(
      framesOf(1, [
        [':method', 'CONNECT'],
        [':authority', 'a.example:443'],
      ]),
    );
    expect((await client.response(1)).status, client.reported()).toBe(405);
    client.send(framesOf(3, head()));
    expect((await client.response(3)).status).toBe(200);
    client.close();
    const methods = origin.requests.slice(before).map((request) => request.method);
    expect(methods).not.toContain('CONNECT');
  });
});
