// Which backend serves which key: the same program in Varnish's daemon and in proxyd, ten thousand keys, with all
// backends healthy and with some sick. A mixed fleet must keep its distribution, so every answer has to be equal.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClientConnection, field } from '../harness/http-client.ts';
import { freePort } from '../harness/origin.ts';
import { Sandbox } from '../harness/processes.ts';
import { type RunningProxy, startProxy } from '../harness/proxy.ts';
import { type Answers, inputsOf, type Reference, recording } from './recording.ts';

const recorded = recording('directors');

const KEYS = Array.from({ length: 10_000 }, (_, i) => `/item/${(i * 2654435761) % 1_000_003}?page=${i % 17}`);
const PROGRAM = readFileSync(new URL('directors-mapping.vcl', import.meta.url), 'utf8');
const BATCH = 200;

/** Names of the header fields that the program sets, in a branch of it. */
function columns(message: string): string[] {
  return [...PROGRAM.matchAll(new RegExp(`set ${message}\\.http\\.([a-z0-9-]+) =`, 'g'))].map(
    (m) => m[1] ?? '',
  );
}

/** The program's output for each key, by column. */
async function ask(
  proxy: RunningProxy,
  prefix: string,
  keys: readonly string[],
  names: readonly string[],
): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>(names.map((n) => [n, []]));
  const connection = await ClientConnection.open(proxy.port);
  for (let from = 0; from < keys.length; from += BATCH) {
    const batch = keys.slice(from, from + BATCH);
    connection.send(batch.map((k) => `GET ${prefix}${k} HTTP/1.1\r\nHost: fleet.test\r\n\r\n`).join(''));
    for (const key of batch) {
      const response = await connection.response('GET');
      if (response.status !== 200) throw new Error(`${prefix}${key}: ${response.status}`);
      for (const name of names) found.get(name)?.push(field(response, name) ?? '');
    }
  }
  connection.close();
  return found;
}

const CLIENT = columns('resp');
const FETCH = columns('beresp');

const STATES: readonly (readonly [string, readonly string[]])[] = [
  ['all are healthy', []],
  ['one is sick', ['b2']],
  ['three are sick', ['b2', 'b1', 'b5']],
  ['all but one are sick', ['b1', 'b2', 'b4', 'b5']],
  ['all are sick', ['b1', 'b2', 'b3', 'b4', 'b5']],
];
const keysOf = (sick: readonly string[]): readonly string[] =>
  sick.length === 0 ? KEYS : KEYS.slice(0, 2000);

/** A letter or number for each choice, so that ten thousand of them are as many characters. */
function packed(choices: readonly string[]): string {
  const names = [...new Set(choices)].sort();
  if (names.length > 60) return choices.join(' ');
  const letters = choices.map((c) =>
    String.fromCharCode(names.indexOf(c) + (names.indexOf(c) < 26 ? 97 : 39)),
  );
  return `${names.join(' ')}: ${letters.join('')}`;
}

/** By state: for each column the choices of all keys, one line for two hundred of them. */
async function play(proxy: RunningProxy): Promise<Answers<Record<string, string[]>>> {
  const seen = new Map<string, Record<string, string[]>>();
  for (const [state, sick] of STATES) {
    await proxy.adm('backend.set_health', '*.*', 'auto');
    for (const name of sick) {
      const done = await proxy.adm('backend.set_health', name, 'sick');
      if (done.code !== 0 || done.stderr !== '') throw new Error(`${name}: ${done.stdout}${done.stderr}`);
    }
    const keys = keysOf(sick);
    const chosen = [
      ...(await ask(proxy, '', keys, CLIENT)),
      ...(await ask(proxy, '/fetch', keys.slice(0, 1000), FETCH)),
    ];
    const lines = (choices: string[]): string[] =>
      Array.from({ length: Math.ceil(choices.length / BATCH) }, (_, i) =>
        packed(choices.slice(i * BATCH, (i + 1) * BATCH)),
      );
    seen.set(state, Object.fromEntries(chosen.map(([name, choices]) => [name, lines(choices)])));
  }
  return seen;
}

describe('the backend of every key', () => {
  const box = new Sandbox('proxyd-directors');
  let reference: Reference<Record<string, string[]>>;
  let ours: Answers<Record<string, string[]>>;
  beforeAll(async () => {
    const program = PROGRAM.replaceAll('@DEAD@', String(await freePort()));
    const inputs = inputsOf(
      `${PROGRAM}${KEYS.length}`,
      STATES.map(([state]) => state),
    );
    [reference, ours] = await recorded.both(inputs, async (product) =>
      play(await startProxy(box, { product, program })),
    );
  }, 240_000);
  afterAll(() => box.dispose());

  it('is asked in more than one way', () => {
    expect(CLIENT.length).toBeGreaterThan(25);
    expect(FETCH.length).toBeGreaterThan(7);
  });

  it.each(STATES)('is the same when %s', (state, sick) => {
    const wanted = reference.get(state);
    const got = ours.get(state) ?? {};
    const differing = Object.entries(wanted).flatMap(([name, lines]) => {
      const at = lines.findIndex((line, i) => line !== got[name]?.[i]);
      return at < 0 ? [] : [`${name}, from key ${at * BATCH}: ${got[name]?.[at]}, not ${lines[at]}`];
    });
    expect(differing).toEqual([]);
    // The keys reach every backend that may be chosen, or the comparison would say little.
    if (sick.length === 0) expect(wanted['s-plain']?.[0]?.split(':')[0]?.split(' ')).toHaveLength(5);
  });
});
