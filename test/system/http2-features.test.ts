// Every feature answers the same over HTTP/1 and over HTTP/2.
import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FEATURES, FEATURES_PROGRAM } from '../harness/features.ts';
import { Origin } from '../harness/origin.ts';
import { Sandbox } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';
import { type Answer, PROTOCOLS, type Talker, talk } from '../harness/two-protocols.ts';

const box = new Sandbox('proxyd-http2-features');

let origin: Origin;
let proxy: RunningProxy;
let talkers: Talker[];

beforeAll(async () => {
  origin = await Origin.start();
  proxy = await startProxy(box, {
    program: backendProgram(origin.port, FEATURES_PROGRAM),
    params: { feature: '+http2', http_profile: 'rfc9111' },
  });
  talkers = PROTOCOLS.map((protocol) => talk(protocol, proxy.port));
});
afterAll(async () => {
  for (const talker of talkers) talker.close();
  await box.dispose();
  await origin.close();
});

/** An answer, as far as protocols and moments do not matter. */
function shown({ status, fields, body, complete, interim }: Answer): object {
  const { date, age, 'x-proxy-id': _id, connection, 'transfer-encoding': _framing, ...rest } = fields;
  const unpacked = fields['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
  // Pages of errors name their transaction.
  const bytes = status > 400 ? unpacked.toString('latin1').replaceAll(/\d{2,}/g, 'ID') : unpacked;
  const digest = createHash('sha256').update(bytes).digest('hex');
  return { status, fields: rest, body: `${bytes.length} bytes, ${digest}`, complete, interim };
}

describe.each(FEATURES.map((row) => [row.name, row] as const))('%s', (_name, row) => {
  const answers = new Map<string, object[]>();

  it.each(PROTOCOLS)('is right over %s', async (protocol) => {
    const talker = talkers.find((each) => each.protocol === protocol) as Talker;
    const path = `/${protocol === 'HTTP/1' ? 'one' : 'two'}${row.path}`;
    row.serves?.(path, origin);
    const seen: object[] = [];
    for (let i = 0; i < (row.times ?? 1); i++) {
      const answer = await talker.ask(path, typeof row.wish === 'function' ? row.wish() : row.wish);
      const { fields = {}, ...rest } = row.wants;
      const body = answer.fields['content-encoding'] === 'gzip' ? gunzipSync(answer.body) : answer.body;
      const { body: wanted, ...others } = { complete: true, interim: [], ...rest };
      expect(answer).toMatchObject(others);
      if (wanted !== undefined) expect(body.equals(wanted), `${body.length} bytes`).toBe(true);
      for (const [name, value] of Object.entries(fields))
        expect([name, answer.fields[name]]).toEqual([name, value]);
      expect([answer.fields.connection, answer.fields['transfer-encoding']]).toEqual(
        protocol === 'HTTP/1' ? expect.anything() : [undefined, undefined],
      );
      seen.push(shown(answer));
    }
    answers.set(protocol, seen);
    if (row.fetches !== undefined) expect(origin.seen(path)).toHaveLength(row.fetches);
  });

  it('is the same over both', () => {
    const [one, two] = PROTOCOLS.map((protocol) => answers.get(protocol));
    expect(two).toEqual(one);
  });
});
