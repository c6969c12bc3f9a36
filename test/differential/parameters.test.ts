// Every parameter that both products have, with a table of values: in range, at and beyond both bounds, with each
// unit, garbage, empty. Texts, statuses and what is shown afterwards must be the same; the descriptions are our own.
// All over one connection each, with the text CLI client of the console.
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TextCliClient } from '../../console/client/text-cli-client.ts';
import { ABSENT_PARAMS, PARAMS, type ParamRow, type ParamType } from '../../protocol/tables/params.ts';
import { freePort } from '../harness/origin.ts';
import { installed, Sandbox } from '../harness/processes.ts';
import { type Product, startProxy } from '../harness/proxy.ts';

const there = installed('varnishd');
if (!there) console.warn('differential tests skipped: varnishd is not installed');

/** Ours alone. */
const OWN = new Set([
  'esi_parallel',
  'fleet_catch_up',
  'fleet_gap',
  'fleet_timeout',
  'fleet_wait',
  'heuristic_ttl_max',
  'http_profile',
  'id_header',
  'turn_budget',
  'validator_keep',
  'worker_threads',
  'xkey_fields',
  'xkey_space',
]);
const OWN_BITS = new Set(['lenient_lf']);
/** Their defaults are the products' own directories. */
const OWN_DEFAULT = new Set(['vcl_path', 'vmod_path']);
/** Varnish has given these log tags up; here they are written, though masked by default. */
const withoutOwnTags = (text: string): string => text.replace(/-Backend(?:Reuse|Start),/g, '');

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
/** Both bounds and what lies a little to either side of them. */
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
  listed: Map<string, Record<string, unknown>>;
}

async function startSide(box: Sandbox, product: Product): Promise<Side> {
  const port = await freePort();
  const secret = box.path('secret');
  writeFileSync(secret, 'a secret\n', { mode: 0o600 });
  const args = ['-T', `127.0.0.1:${port}`, '-S', secret, '-r', 'send_timeout,gzip_level'];
  await startProxy(box, { product, backend: '127.0.0.1:1', args, asInstalled: true });
  const cli = await TextCliClient.connect(`127.0.0.1:${port}`, secret, 5);
  const list = withoutOwnTags((await cli.command('param.show -j')).body);
  const rows = JSON.parse(list).slice(3) as Record<string, unknown>[];
  return { cli, listed: new Map(rows.map((row) => [String(row.name), row])) };
}

/** The answer without the description. */
async function ask(side: Side, line: string): Promise<string> {
  const { status, body } = await side.cli.command(line);
  if (!line.startsWith('param.show'))
    return `${status} ${body.replace(/"description": .*/, '"description"')}`;
  return withoutOwnTags(`${status} ${body.split('\n\n')[0]}`.replace(/\b1\d{9}\.\d+/, 'TIME'));
}

describe.skipIf(!there)('parameters beside Varnish’s', () => {
  const box = new Sandbox('proxyd-params');
  let field: Side;
  let ours: Side;
  beforeAll(async () => {
    [field, ours] = await Promise.all([startSide(box, 'varnish'), startSide(box, 'proxyd')]);
  }, 60_000);
  afterAll(() => box.dispose());

  it('are Varnish’s, or absent for a reason', () => {
    const known = (name: string): boolean => [...PARAMS, ...ABSENT_PARAMS].some((row) => row.name === name);
    expect([...field.listed.keys()].filter((name) => !known(name))).toEqual([]);
    expect(PARAMS.map((row) => row.name).filter((name) => !field.listed.has(name))).toEqual([...OWN].sort());
  });

  it('have the same defaults, bounds, units and flags', () => {
    const facts = (side: Side): Record<string, unknown>[] =>
      PARAMS.filter((row) => !OWN.has(row.name)).map(({ name }) => {
        const { description: _, value, default: initial, ...rest } = side.listed.get(name) ?? {};
        return OWN_DEFAULT.has(name) ? rest : { ...rest, value, default: initial };
      });
    expect(facts(ours)).toEqual(facts(field));
  });

  it.each([
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
  ])('answer the same: %s', async (line) => {
    expect(await ask(ours, line)).toBe(await ask(field, line));
  });

  it('name those that only contain a text, which Varnish does not', async () => {
    const [first, ...rest] = (await ask(ours, 'param.show esi')).split('\n');
    expect(first).toBe('200 esi_parallel                  16 [fragments] (default)');
    expect(rest).toEqual(['max_esi_depth                 5 [levels] (default)', '']);
    expect((await ask(ours, 'param.show -l ttl')).split('\n')[0]).toBe('200 default_ttl');
    expect(await ask(field, 'param.show esi')).toBe('106 Unknown parameter "esi".');
  });

  it('take lengths of time with units, which Varnish reads without, and refuse what it drops', async () => {
    expect(await ask(ours, 'param.set default_ttl 2m')).toBe('200 ');
    expect(await ask(ours, 'param.show default_ttl')).toContain('Value is: 120.000 [seconds] (default)');
    expect(await ask(ours, 'param.set default_ttl 1e2')).toMatch(/^106 Invalid number/);
    for (const side of [ours, field]) await ask(side, 'param.reset default_ttl');
  });

  // Without accept_filter, which Linux does not have.
  it.each(ABSENT_PARAMS.filter((row) => row.name !== 'accept_filter'))(
    '$name, without effect: takes and refuses the same',
    async ({ name, type, max, min }) => {
      const values = [...VALUES[type === 'pool' ? 'string' : type], 'a,b,c'];
      if (type === 'pool') values.push('1,2,3', '1,2', '1,2,x');
      if (type === 'bits') values.push('+drop_pools', '+nosuch');
      if (min !== undefined) values.push(min);
      if (max !== undefined) values.push(max);
      // Bounds that other parameters set are not kept, and the storage is not looked for.
      const open = new Set(['thread_pool_min', 'thread_pool_reserve', 'h2_rxbuf_storage']);
      const status = async (side: Side, value: string): Promise<string> =>
        (await ask(side, `param.set ${name} ${value}`)).slice(0, 3);
      for (const value of values) {
        const theirs = await status(field, value);
        if (theirs === '106' && open.has(name)) continue;
        expect([value, await status(ours, value)]).toEqual([value, theirs]);
      }
      await ask(field, `param.reset ${name}`);
      expect(await ask(ours, `param.reset ${name}`)).toMatch(/^200 \nParameter ".*" has no effect here: /);
      expect((await ask(ours, `param.show ${name}`)).split('\n').slice(0, 2)).toEqual([
        `200 ${name}`,
        '        Not available',
      ]);
    },
  );

  for (const row of PARAMS as readonly ParamRow[]) {
    if (OWN.has(row.name)) continue;
    it(`${row.name}: takes and refuses the same`, async () => {
      const { name } = row;
      const values = [...VALUES[row.type], ...around(row)].filter((value) => value !== '4294967296');
      // Varnish applies what stands before an error in a list, and its param.reset, none and default leave bits
      // of `feature` as they are.
      const isList = row.type === 'bits' || row.type === 'mask';
      const shared = (row.bits ?? []).filter((bit) => !OWN_BITS.has(bit.name));
      const off = shared.map((bit) => `-${bit.name}`).join(',');
      const initial = row.type === 'bits' && row.default !== 'none' ? `,${row.default}` : '';
      const back = row.type === 'bits' ? `param.set ${name} ${off}${initial}` : `param.reset ${name}`;
      const play = async (side: Side): Promise<string[]> => {
        const answers: string[] = [];
        const note = async (line: string): Promise<string> => {
          const answer = await ask(side, line);
          const hidden = OWN_DEFAULT.has(name) ? answer.replace(/(Default|Value) is: .*/g, '') : answer;
          answers.push(`${line}: ${hidden}`);
          return answer;
        };
        for (const value of values) {
          const answer = await note(`param.set ${name} ${value}`);
          // Other tests compare truncated responses.
          if (name !== 'cli_limit' && (answer.startsWith('200') || !isList)) await note(`param.show ${name}`);
          await note(back);
        }
        for (const rest of ['', ' a b']) await note(`param.set ${name}${rest}`);
        for (const line of [`param.reset ${name} x`, `param.reset -j ${name}`]) await note(line);
        return answers;
      };
      const [theirs, own] = await Promise.all([play(field), play(ours)]);
      expect(own).toEqual(theirs);
    });
  }
});
