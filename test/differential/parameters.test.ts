// Every parameter that both products have, with a table of values: in range, at and beyond both bounds, with each
// unit, garbage, empty. Texts, statuses and what is shown afterwards must be the same; the descriptions are our own.
// All over one connection each, with the text CLI client of the console.
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TextCliClient } from '../../console/client/text-cli-client.ts';
import { ABSENT_PARAMS, PARAMS, type ParamRow, type ParamType } from '../../protocol/tables/params.ts';
import { freePort } from '../harness/origin.ts';
import { Sandbox } from '../harness/processes.ts';
import { type Product, startProxy } from '../harness/proxy.ts';
import { MODE, type Reference, recording, type Told } from './recording.ts';

const rows = recording('parameter-rows');
const lines = recording('parameter-lines');
const values = recording('parameters');

/** Ours alone, or of later releases. */
const OWN = new Set([
  'backend_wait_limit',
  'backend_wait_timeout',
  'ban_any_variant',
  'disk_sync',
  'esi_parallel',
  'fleet_catch_up',
  'fleet_gap',
  'fleet_timeout',
  'fleet_wait',
  'h2_rapid_reset',
  'h2_rapid_reset_limit',
  'h2_rapid_reset_period',
  'h2_window_timeout',
  'heuristic_ttl_max',
  'http_multi_range',
  'http_profile',
  'http_req_overflow_status',
  'id_header',
  'log_scheme',
  'pipe_task_deadline',
  'range_ahead',
  'startup_timeout',
  'stop_timeout',
  'tls_handshake_timeout',
  'tls_ja3',
  'transit_buffer',
  'turn_budget',
  'uncacheable_ttl',
  'validator_keep',
  'varnish_release',
  'vcc_feature',
  'worker_threads',
  'xkey_fields',
  'xkey_space',
]);
/** http2 keeps its minus, so that it is not as before when it is switched off. */
const OWN_BITS = new Set(['lenient_lf', 'http2', 'trace', 'vcl_req_reset']);
/** Their defaults are the products' own directories. */
const OWN_DEFAULT = new Set(['vcl_path', 'vmod_path']);
/** Varnish has given these log tags up; here they are written, though masked by default. */
const withoutOwnTags = (text: string): string => text.replace(/-Backend(?:Reuse|Start),|,-ReqTarget/g, '');

const VALUES: Readonly<Record<ParamType, readonly string[]>> = {
  timeout: [
    '0',
    '1',
    '-1',
    '1.5',
    '.5',
    '5.',
    '" 5"',
    '"5 "',
    '+5',
    '-',
    '.',
    '--1',
    'abc',
    '""',
    '" "',
    'nan',
    'never',
  ].concat(['1.2345', '0.0005', '1s', '7s', '99999999999', '1234567890123', 'default', 'unlimited']),
  bytes: [
    '0',
    '1',
    '255',
    '256',
    '1k',
    '1K',
    '1kb',
    '1kB',
    '1.5k',
    '1.5',
    '300.0b',
    '10b',
    '10B',
    '1m',
    '2M',
    '1g',
    '64k',
  ]
    .concat([
      '65537b',
      '0.3k',
      '17k',
      '12%',
      '1k5',
      '1x',
      '1kx',
      '" 1k"',
      '"1k "',
      '"1 k"',
      '+5',
      '.5k',
      '5.k',
      '1e3',
    ])
    .concat([
      '1.00001k',
      '1234567890123456',
      'abc',
      '""',
      '" "',
      '-',
      '-1',
      'k',
      '1kbb',
      '1KiB',
      'unlimited',
      'default',
    ]),
  uint: [
    '0',
    '1',
    '9',
    '10',
    '99',
    '-1',
    '-2',
    '1.5',
    'abc',
    '""',
    '" 5"',
    '"5 "',
    '+5',
    '0x10',
    '0x',
    '010',
    '08',
    '1e2',
  ].concat([
    '5k',
    '1s',
    'unlimited',
    'UNLIMITED',
    'UNLIM',
    'default',
    '65535',
    '65536',
    '4294967295',
    '007',
    '+-1',
  ]),
  real: [],
  bool: [
    'on',
    'off',
    'yes',
    'no',
    'true',
    'FALSE',
    'enable',
    'Disable',
    '1',
    '0',
    '""',
    'maybe',
    '" on"',
    'default',
  ],
  bits: ['all', 'None', '""', '","', '+nosuch', '-nosuch', 'nosuch', 'none,+x', '+', '" "', '+short_panic,'],
  mask: [
    'default',
    'none',
    'all',
    '""',
    '+',
    '-',
    '+hash',
    '-Hash,+Debug',
    '"-Hash, +Debug"',
    '"-Hash +VCL_call"',
    '-Hash,',
    'Hash',
  ].concat(['default,+Hash', '+Nosuch', '-VCL_call,-Nosuch']),
  string: ['""', '/tmp', '"/a b"', '/a:/b', 'default'],
  header: [],
  choice: [],
  storage: [],
};
/** Both bounds and values just inside and outside of them. */
function around(row: ParamRow): string[] {
  return [row.min, row.max].flatMap((bound) => {
    const m = /^([\d.]+)(.*)$/.exec(bound ?? '');
    if (m === null) return [];
    const step = row.type === 'timeout' ? 0.001 : row.type === 'uint' ? 1 : 0.25;
    const at = Number(m[1]);
    return [at - step, at, at + step].map((n) => `${Math.round(n * 1000) / 1000}${m[2]}`);
  });
}

interface Side {
  cli: TextCliClient;
  listed: Map<string, Record<string, Told>>;
}

async function startSide(box: Sandbox, product: Product): Promise<Side> {
  const port = await freePort();
  const secret = box.path('secret');
  writeFileSync(secret, 'a secret\n', { mode: 0o600 });
  const args = ['-T', `127.0.0.1:${port}`, '-S', secret, '-r', 'send_timeout,gzip_level'];
  await startProxy(box, { product, backend: '127.0.0.1:1', args, asInstalled: true });
  const cli = await TextCliClient.connect(`127.0.0.1:${port}`, secret, 5);
  const list = withoutOwnTags((await cli.command('param.show -j')).body);
  const all = JSON.parse(list).slice(3) as Record<string, Told>[];
  return { cli, listed: new Map(all.map((row) => [String(row.name), row])) };
}

/** The answer without the description. */
async function ask(side: Side, line: string): Promise<string> {
  const { status, body } = await side.cli.command(line);
  if (!line.startsWith('param.show'))
    return `${status} ${body.replace(/"description": .*/, '"description"')}`;
  return withoutOwnTags(`${status} ${body.split('\n\n')[0]}`.replace(/\b1\d{9}\.\d+/, 'TIME'));
}

/** Answers of both but those to what later releases of Varnish take: never, all and none, and -j of param.reset. */
function comparable(name: string, answers: readonly string[]): string[] {
  const newer = new RegExp(`^param\\.(set ${name} (never|all|none|none,\\+x)|reset -j ${name}):`);
  return answers.filter((line, i) => !newer.test(line) && !newer.test(shownAfter(answers, i)));
}

/** The change that a `param.show` follows. */
function shownAfter(answers: readonly string[], i: number): string {
  return answers[i]?.startsWith('param.show') ? (answers[i - 1] ?? '') : '';
}

/** In order: later lines see what earlier ones did. */
const LINES = [
  'param.show nosuch',
  'param.show -l nosuch',
  'param.show -j nosuch',
  'param.show -l -j',
  'param.show a b',
  'param.show changed',
  'param.show -l changed',
  'param.set send_timeout 5',
  'param.set -j send_timeout 5',
  'param.reset gzip_level',
  'param.set gzip_level x',
  'param.show gzip_level',
  'param.set vsl_reclen 1k',
  'param.show vsl_buffer',
  'param.set vsl_buffer 1000',
  'param.set vsl_buffer 2k',
  'param.show vsl_reclen',
  'param.set vsl_reclen 3k',
  'param.reset vsl_reclen',
  'param.reset vsl_buffer',
  'param.set feature +esi_remove_bom,-validate_headers',
  'param.show feature',
  'param.set feature "+wait_silo +no_coredump,-wait_silo"',
  'param.show feature',
  'param.set feature -esi_remove_bom,-no_coredump,+validate_headers',
  'param.show feature',
  'param.set debug +lurker',
  'param.set debug none',
  'param.show debug',
];
/** Asked after them. */
const MORE = ['param.show esi'];
const LINE_KEYS = [...LINES, ...MORE].map((line, i) => `${i}: ${line}`);

/** Parameters that both have. */
const SHARED: readonly ParamRow[] = (PARAMS as readonly ParamRow[]).filter((row) => !OWN.has(row.name));
/** accept_filter does not exist on Linux, and panic_buffer is of a later release. */
const ELSEWHERE = new Set(['accept_filter', 'panic_buffer']);
const WITHOUT_EFFECT = ABSENT_PARAMS.filter((row) => !ELSEWHERE.has(row.name));

/** The facts about a parameter that are the same in both. */
function factsOf(side: Side): Map<string, Record<string, Told>> {
  const facts = [...side.listed].map(([name, row]): [string, Record<string, Told>] => {
    const { description: _, value = null, default: initial = null, ...rest } = row;
    return [name, OWN_DEFAULT.has(name) ? rest : { ...rest, value, default: initial }];
  });
  return new Map(facts);
}

/** Values that a parameter without effect is set to. */
function valuesWithoutEffect({ type, max, min }: (typeof ABSENT_PARAMS)[number]): string[] {
  const list = [...VALUES[type === 'pool' ? 'string' : type], 'a,b,c'];
  if (type === 'pool') list.push('1,2,3', '1,2', '1,2,x');
  if (type === 'bits') list.push('+drop_pools', '+nosuch');
  if (min !== undefined) list.push(min);
  if (max !== undefined) list.push(max);
  return list;
}

/** Results of setting each value of a parameter: statuses. */
async function statuses(side: Side, row: (typeof ABSENT_PARAMS)[number]): Promise<string[]> {
  const output: string[] = [];
  for (const value of valuesWithoutEffect(row))
    output.push(`${value}: ${(await ask(side, `param.set ${row.name} ${value}`)).slice(0, 3)}`);
  await ask(side, `param.reset ${row.name}`);
  return output;
}

function valuesOf(row: ParamRow): string[] {
  return [...VALUES[row.type], ...around(row)].filter((value) => value !== '4294967296');
}

/** Results of setting each value of a parameter, and the value shown afterwards. */
async function answersOf(side: Side, row: ParamRow): Promise<string[]> {
  const { name } = row;
  // Varnish applies what stands before an error in a list, and its param.reset, none and default leave bits
  // of `feature` as they are.
  const isList = row.type === 'bits' || row.type === 'mask';
  const shared = (row.bits ?? []).filter((bit) => !OWN_BITS.has(bit.name));
  const off = shared.map((bit) => `-${bit.name}`).join(',');
  const initial = row.type === 'bits' && row.default !== 'none' ? `,${row.default}` : '';
  const back = row.type === 'bits' ? `param.set ${name} ${off}${initial}` : `param.reset ${name}`;
  const answers: string[] = [];
  const note = async (line: string): Promise<string> => {
    const answer = await ask(side, line);
    const hidden = OWN_DEFAULT.has(name) ? answer.replace(/(Default|Value) is: .*/g, '') : answer;
    answers.push(`${line}: ${hidden}`);
    return answer;
  };
  for (const value of valuesOf(row)) {
    const answer = await note(`param.set ${name} ${value}`);
    // Other tests compare truncated responses.
    if (name !== 'cli_limit' && (answer.startsWith('200') || !isList)) await note(`param.show ${name}`);
    await note(back);
    // It has set our own bits, too.
    if (value === 'all') await ask(side, `param.reset ${name}`);
  }
  for (const rest of ['', ' a b']) await note(`param.set ${name}${rest}`);
  for (const line of [`param.reset ${name} x`, `param.reset -j ${name}`]) await note(line);
  return answers;
}

describe('parameters beside Varnish’s', () => {
  const box = new Sandbox('proxyd-params');
  let ours: Side;
  let facts: Reference<Record<string, Record<string, Told>>>;
  let output: Reference<string>;
  let taken: Reference<string[]>;

  /** All that is asked of Varnish, in one order. */
  async function playTheirs() {
    const field = await startSide(box, 'varnish');
    const lineAnswers = new Map<string, string>();
    for (const [i, line] of [...LINES, ...MORE].entries())
      lineAnswers.set(LINE_KEYS[i] as string, await ask(field, line));
    const valueAnswers = new Map<string, string[]>();
    for (const row of WITHOUT_EFFECT) valueAnswers.set(row.name, await statuses(field, row));
    for (const row of SHARED) valueAnswers.set(row.name, await answersOf(field, row));
    return { facts: new Map([['all', Object.fromEntries(factsOf(field))]]), lineAnswers, valueAnswers };
  }

  beforeAll(async () => {
    const theirs = MODE === 'replay' ? null : await playTheirs();
    facts = rows.settle(new Map([['all', '']]), theirs?.facts ?? null);
    output = lines.settle(
      new Map(LINE_KEYS.map((key) => [key, LINE_KEYS.join('\n')])),
      theirs?.lineAnswers ?? null,
    );
    taken = values.settle(
      new Map([
        ...WITHOUT_EFFECT.map((row) => [row.name, valuesWithoutEffect(row).join('\n')] as const),
        ...SHARED.map((row) => [row.name, valuesOf(row).join('\n')] as const),
      ]),
      theirs?.valueAnswers ?? null,
    );
    ours = await startSide(box, 'proxyd');
  }, 240_000);
  afterAll(() => box.dispose());

  it('are Varnish’s, or absent for a reason', () => {
    const known = (name: string): boolean => [...PARAMS, ...ABSENT_PARAMS].some((row) => row.name === name);
    const listed = Object.keys(facts.get('all'));
    expect(listed.filter((name) => !known(name))).toEqual([]);
    expect(PARAMS.map((row) => row.name).filter((name) => !listed.includes(name))).toEqual([...OWN].sort());
  });

  it('have the same defaults, bounds, units and flags', () => {
    const theirs = facts.get('all');
    const own = factsOf(ours);
    expect(SHARED.map(({ name }) => own.get(name))).toEqual(SHARED.map(({ name }) => theirs[name]));
  });

  it.each(LINES.map((line, i) => [line, LINE_KEYS[i] as string]))(
    'answer the same: %s',
    async (line, key) => {
      expect(await ask(ours, line)).toBe(output.get(key));
    },
  );

  it('name those that only contain a text, which Varnish does not', async () => {
    const [first, ...rest] = (await ask(ours, 'param.show esi')).split('\n');
    expect(first).toBe('200 esi_parallel                  16 [fragments] (default)');
    expect(rest).toEqual(['max_esi_depth                 5 [levels] (default)', '']);
    expect((await ask(ours, 'param.show -l ttl')).split('\n')[0]).toBe('200 default_ttl');
    expect(output.get(LINE_KEYS.at(-1) as string)).toBe('106 Unknown parameter "esi".');
  });

  it('take lengths of time with units, which Varnish reads without, and refuse what it drops', async () => {
    expect(await ask(ours, 'param.set default_ttl 2m')).toBe('200 ');
    expect(await ask(ours, 'param.show default_ttl')).toContain('Value is: 120.000 [seconds] (default)');
    expect(await ask(ours, 'param.set default_ttl 1e2')).toMatch(/^106 Invalid number/);
    await ask(ours, 'param.reset default_ttl');
  });

  it.each(WITHOUT_EFFECT)('$name, without effect: takes and refuses the same', async (row) => {
    const { name } = row;
    // Bounds that other parameters set are not kept, and the storage is not looked for.
    const open = new Set(['thread_pool_min', 'thread_pool_reserve', 'h2_rxbuf_storage']);
    const theirs = taken.get(name);
    const own = await statuses(ours, row);
    const isOpen = (text = ''): boolean => text === 'all: 106' || (text.endsWith(': 106') && open.has(name));
    const compared = theirs.map((_, i) => i).filter((i) => !isOpen(theirs[i]));
    expect(compared.map((i) => own[i])).toEqual(compared.map((i) => theirs[i]));
    expect(await ask(ours, `param.reset ${name}`)).toMatch(/^200 \nParameter ".*" has no effect here: /);
    expect((await ask(ours, `param.show ${name}`)).split('\n').slice(0, 2)).toEqual([
      `200 ${name}`,
      '        Not available',
    ]);
  });

  it.each(SHARED)('$name: takes and refuses the same', async (row) => {
    const { name } = row;
    expect(comparable(name, await answersOf(ours, row))).toEqual(comparable(name, taken.get(name)));
  });
});
