import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SETTINGS } from '../../../daemon/edge/config-rows.ts';
import { EdgeConfigError, parseEdgeConfig, readEdgeConfig } from '../../../daemon/edge/edge-config.ts';

const parse = (text: string) => parseEdgeConfig(text, 'f.conf');
const FULL = `provider = akamai
purge_host = lab.invalid
purge_client_token = tok-SECRET
purge_client_secret = sec-SECRET=with=equals
purge_access_token = acc-SECRET
`;

describe('edge-connector.conf', () => {
  it('has the defaults of the table where nothing is written', () => {
    const config = parse('');
    expect(config.configured).toBe(false);
    expect(config.number('backoff_max')).toBe(300);
    expect(config.number('max_age')).toBe(86_400);
    expect(config.number('concurrency')).toBe(5);
    expect(config.flag('dry_run')).toBe(false);
    expect(config.map('host_map').size).toBe(0);
  });

  it('is read by types', () => {
    const config = parse('# comment\r\nhost_map = A.example=b.example, c=d\nperiod=500ms\nstrict = on\n');
    expect([...config.map('host_map')]).toEqual([
      ['a.example', 'b.example'],
      ['c', 'd'],
    ]);
    expect(config.number('period')).toBe(0.5);
    expect(config.flag('strict')).toBe(true);
  });

  it('is configured to purge with a provider and all four fields, and not with one missing', () => {
    expect(parse(FULL).configured).toBe(true);
    expect(parse(FULL).text('purge_client_secret')).toBe('sec-SECRET=with=equals');
    for (const line of FULL.trim().split('\n')) expect(parse(FULL.replace(line, '')).configured).toBe(false);
  });

  it('shows no secret in any way of showing', () => {
    const config = parse(FULL);
    const shown = [
      JSON.stringify(config),
      inspect(config, { depth: 9, showHidden: true }),
      String(config),
      config.shown().join(),
    ];
    expect(shown.join('\n')).not.toContain('SECRET');
    expect(config.toJSON().purge_client_token).toBe('***');
  });

  it.each([
    ['\nprovidr = fake', 'f.conf:2: unknown key "providr"; did you mean provider?'],
    ['zzzzzzzzz = 1', 'f.conf:1: unknown key "zzzzzzzzz"; remove the line'],
    ['hunter2', 'f.conf:1: no "=" here; write key = value'],
    ['provider = fkae', 'f.conf:1: provider: not one of fake, akamai, fastly, cloudflare'],
    ['calls = 0', 'f.conf:1: calls: outside of 1 to 1000000'],
    ['calls = 1e3', 'f.conf:1: calls: not a whole number'],
    ['period = 5', 'f.conf:1: period: not a duration; write a number with its unit, as in 10s or 5m'],
    ['strict = maybe', 'f.conf:1: strict: neither on nor off'],
    ['purge_host = https://x/', 'f.conf:1: purge_host: not a host; write it without scheme and path'],
    ['prefix = edge', 'f.conf:1: prefix: not a path; begin it with / and leave out blanks'],
    ['host_map = a', 'f.conf:1: host_map: not pairs; write from = to, from = to'],
    ['calls = 1\ncalls = 2', 'f.conf:2: calls stands on line 1 already; remove one of the two'],
    [
      'purge_access_token = SECRET\x01',
      'f.conf:1: purge_access_token: control characters in the value; remove them',
    ],
    ['backoff_min = 10m', 'f.conf:1: backoff_min is above backoff_max; lower it or raise the other'],
    [
      'a = 1\nb = 2',
      'f.conf:1: unknown key "a"; remove the line\nf.conf:2: unknown key "b"; remove the line',
    ],
  ])('answers %j', (text, wanted) => {
    expect(() => parse(text)).toThrow(new EdgeConfigError(wanted));
  });

  it('has defaults that its own rules accept', () => {
    for (const row of SETTINGS) expect(() => parse(`${row.name} = ${row.default}`)).not.toThrow();
  });
});

describe('the file', () => {
  let dir = '';
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'edge-config-'));
  });
  afterAll(() => rmSync(dir, { recursive: true }));
  const read = (path: string) => readEdgeConfig({ EDGE_CONNECTOR_CONFIG: path });

  it('may be missing', () => {
    expect(read(join(dir, 'none'))).toMatchObject({ path: null, warnings: [] });
  });

  it('is expected to be closed to others', () => {
    const path = join(dir, 'a.conf');
    writeFileSync(path, FULL);
    chmodSync(path, 0o640);
    expect(read(path).warnings).toEqual([
      `${path}: mode 0640 lets others read the secrets; chmod 0600 ${path}`,
    ]);
    chmodSync(path, 0o600);
    expect(read(path)).toMatchObject({ path, warnings: [], config: { configured: true } });
  });

  it('is bounded, and plain', () => {
    const path = join(dir, 'long.conf');
    writeFileSync(path, '#'.repeat((1 << 20) + 1));
    expect(() => read(path)).toThrow('longer than 1048576 bytes');
    expect(() => read(dir)).toThrow('not a plain file');
    const fifo = join(dir, 'fifo');
    execFileSync('mkfifo', [fifo]);
    expect(() => read(fifo)).toThrow('not a plain file');
  });
});
