// Tools that answer as those of Varnish 6.0 LTS do, as far as its documentation and release notes say: no JSON from commands,
// tables of other columns, counters beside the time, records with fewer fields. The whole model is on them.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { DaemonSession } from '../../../console/model/session/daemon-session.ts';
import { DEFAULT_CONFIG } from '../../../console/model/ui/config.ts';
import { liveInstances } from '../../../console/process/open-instances.ts';
import { why } from '../../../console/views/log/why/why.ts';
import { PARAMETERS_VIEW } from '../../../console/views/parameters/parameters-view.ts';
import { LOG_FILE_MAGIC } from '../../../protocol/log-record.ts';
import type { TagName } from '../../../protocol/tables/tags.ts';
import { Sandbox, until } from '../../harness/processes.ts';
import { record } from '../fake-recording.ts';

const box = new Sandbox('varnish-6.0');
const { PATH } = process.env;
let session: DaemonSession;

const c = (vxid: number, ...rows: [TagName, string][]): Uint8Array[] =>
  rows.map(([tag, text]) => record('c', vxid, tag, text));
const b = (vxid: number, ...rows: [TagName, string][]): Uint8Array[] =>
  rows.map(([tag, text]) => record('b', vxid, tag, text));

const AT = 1_700_000_000;
const LOG = [
  ...c(0, ['CLI', 'Rd ping'], ['CLI', `Wr 200 19 PONG ${AT} 1.0`]),
  ...c(0, ['Backend_health', 'boot.slow Went sick 4---X--- 2 3 8 0.000000 0.001000 ']),
  ...c(0, ['Backend_health', 'boot.default Back healthy 4---X-RH 3 3 8 0.001000 0.001000 HTTP/1.1 200 OK']),
  ...b(
    3,
    ['Begin', 'bereq 2 fetch'],
    ['Timestamp', `Start: ${AT}.1 0.000000 0.000000`],
    ['BereqMethod', 'GET'],
    ['BereqURL', '/a'],
    ['BackendOpen', '21 boot.default 192.0.2.7 8080 192.0.2.1 40000'],
    ['BackendStart', '192.0.2.7 8080'],
    ['Timestamp', `Beresp: ${AT}.2 0.100000 0.100000`],
    ['BerespStatus', '200'],
    ['BerespHeader', 'Set-Cookie: a=1'],
    ['TTL', `RFC 120 10 0 ${AT} ${AT} ${AT} 0 120`],
    ['VCL_call', 'BACKEND_RESPONSE'],
    ['TTL', 'VCL 120 10 0 0'],
    ['VCL_return', 'deliver'],
    ['BackendReuse', '21 boot.default'],
    ['Length', '5'],
    ['BereqAcct', '10 0 10 20 5 25'],
    ['End', ''],
  ),
  ...c(
    2,
    ['Begin', 'req 1 rxreq'],
    ['Timestamp', `Start: ${AT}.1 0.000000 0.000000`],
    ['ReqStart', '198.51.100.4 1234'],
    ['ReqMethod', 'GET'],
    ['ReqURL', '/a'],
    ['VCL_call', 'RECV'],
    ['VCL_return', 'hash'],
    ['VCL_call', 'HASH'],
    ['VCL_return', 'lookup'],
    ['HitMiss', '1 100.000000'],
    ['VCL_call', 'MISS'],
    ['VCL_return', 'fetch'],
    ['Link', 'bereq 3 fetch'],
    ['RespStatus', '200'],
    ['Timestamp', `Process: ${AT}.2 0.110000 0.110000`],
    ['Timestamp', `Resp: ${AT}.2 0.120000 0.010000`],
    ['ReqAcct', '50 0 50 200 5 205'],
    ['End', ''],
  ),
  ...c(
    5,
    ['Begin', 'req 4 rxreq'],
    ['Timestamp', `Start: ${AT}.3 0.000000 0.000000`],
    ['ReqMethod', 'GET'],
    ['ReqURL', '/hit'],
    ['VCL_call', 'RECV'],
    ['VCL_return', 'hash'],
    ['Hit', '99 118.500000 10.000000 0.000000'],
    ['VCL_call', 'HIT'],
    ['VCL_return', 'deliver'],
    ['RespStatus', '200'],
    ['Timestamp', `Process: ${AT}.3 0.000100 0.000100`],
    ['ReqAcct', '50 0 50 200 7 207'],
    ['End', ''],
  ),
];

const ADM = `for line; do :; done
refuse() { echo "Command failed with error code $1"; echo "$2"; exit 1; }
case "$line" in
  help) printf 'help [<command>]\\nping [<timestamp>]\\nbackend.list [-p] [<backend_expression>]\\nban.list\\nparam.show [-l] [<param>|changed]\\npanic.show\\nstorage.list\\nvcl.list\\nvcl.show [-v] <configname>\\n';;
  backend.list) printf 'Backend name                   Admin      Probe                Last updated\\nboot.default                   probe      Healthy 3/8          Tue, 14 Nov 2023 22:13:20 GMT\\nboot.slow                      probe      Sick 2/8             Tue, 14 Nov 2023 22:13:19 GMT\\nboot.off                       sick       Healthy (no probe)   Tue, 14 Nov 2023 22:13:19 GMT\\n';;
  backend.list*) echo 'Backend name                   Admin      Probe                Last updated';;
  vcl.list) printf 'available   auto/cold          0 old\\nactive      auto/warm          2 boot\\n';;
  ban.list) printf 'Present bans:\\n1700000000.000000     0 C\\n';;
  param.show) printf 'accept_filter              -\\ndefault_ttl                120.000 [seconds] (default)\\nthread_pools               4 [pools]\\n';;
  'panic.show') refuse 300 'Child has not panicked or panic has been cleared';;
  storage.list) printf 'Storage devices:\\n\\tstorage.s0 = malloc\\n';;
  *-j*) refuse 105 'Too many parameters';;
  *) refuse 101 'Unknown request.';;
esac`;

const counter = (value: number, flag = 'c'): object => ({
  type: 'MAIN',
  ident: '',
  flag,
  format: 'i',
  description: 'x',
  value,
});
const STAT = {
  timestamp: '2023-11-14T22:13:20',
  'MGT.uptime': counter(100),
  'MGT.child_start': counter(1),
  'MAIN.uptime': counter(99),
  'MAIN.client_req': counter(2),
  'MAIN.cache_hit': counter(1),
  'MAIN.cache_miss': counter(1),
  'VBE.boot.default.happy': { ...counter(7), flag: 'b', format: 'b' },
};

beforeAll(async () => {
  const bin = join(box.dir, 'bin');
  mkdirSync(bin);
  const script = (name: string, text: string): void => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  writeFileSync(join(box.dir, 'log'), Buffer.concat([Buffer.from(LOG_FILE_MAGIC), ...LOG]));
  writeFileSync(join(box.dir, 'stat'), JSON.stringify(STAT, null, 2));
  script(
    'varnishstat',
    `case "$*" in *-V*) echo "varnishstat (varnish-6.0.8 revision 97e54ada6ac578af332e52b44d2038bb4fa4cd4a)" >&2;; *) cat ${box.dir}/stat;; esac`,
  );
  // As 6.5.1: output that is not a file gets no magic, and "-" is a file name.
  script(
    'varnishlog',
    `case "$*" in -h) echo "[-t <seconds|off>]" >&2; exit 1;; *"-w - "*|*"-w -") exit 3;;
*-d*"-w /dev/stdout") tail -c +5 ${box.dir}/log >/dev/stdout;; *"-w /dev/stdout") exec sleep 1000;; *) exit 3;; esac`,
  );
  script('varnishadm', ADM);
  process.env.PATH = `${bin}:${PATH}`;
  session = liveInstances({ varnish: 'old' }, DEFAULT_CONFIG).current;
  session.start();
  session.log.follow('', 'request');
  session.admin.watch(PARAMETERS_VIEW.asks);
  await until(
    'what was logged',
    () =>
      session.traffic.sample.requests === 2 && session.log.kept.size === 2 && session.backends.length === 3,
  );
}, 30_000);

afterAll(async () => {
  session?.close();
  process.env.PATH = PATH;
  await box.dispose();
});

it('has release, counters and programs', async () => {
  expect([session.version, session.counters.value('MAIN.client_req')]).toEqual(['varnish-6.0.8', 2n]);
  const { body } = await session.source.command('vcl.list -j');
  expect(JSON.parse(body).slice(3)).toMatchObject([
    { name: 'old', temperature: 'cold' },
    { name: 'boot', status: 'active', busy: 2 },
  ]);
  expect(await session.source.command('panic.show')).toMatchObject({ status: 300 });
});

it('has its backends with their health, and the results of their probes', async () => {
  expect(session.backends.map((r) => [r.name, r.admin, r.health, r.probe?.good ?? null])).toEqual([
    ['boot.default', 'probe', 'healthy', 3],
    ['boot.slow', 'probe', 'sick', 2],
    ['boot.off', 'sick', 'sick', null],
  ]);
  const health = session.events.all().filter(({ kind }) => kind === 'health');
  expect(health.map(({ text }) => text)).toEqual([
    'boot.slow went sick (down)',
    'boot.default went healthy (up): HTTP/1.1 200 OK',
  ]);
});

it('has its parameters', async () => {
  await until('the parameters', () => session.admin.body('param.show -j') !== '');
  const rows = PARAMETERS_VIEW.definition.rows(session, '');
  expect(rows.map(({ facts }) => [facts.name, facts.value])).toEqual([
    ['accept_filter', ''],
    ['default_ttl', '120.000'],
    ['thread_pools', '4'],
  ]);
});

it('has its requests, how the cache took them, and why', () => {
  expect(session.traffic.sample.all('url').map((r) => [r.key, r.hits, r.misses, r.bytes])).toEqual([
    ['/a', 0, 1, 5],
    ['/hit', 1, 0, 7],
  ]);
  expect(session.traffic.sample.addressOf('boot.default')).toBe('192.0.2.7:8080');
  const [miss, hit] = [0, 1].map((i) => session.log.kept.at(i)?.transactions ?? []);
  const output = (group = miss): string[] =>
    why(group ?? [], { earlier: [], bans: null, since: 0 }).map(({ sentence }) => sentence);
  expect(output(miss)[0]).toContain(
    'hit-for-miss: the response of 1 was not cacheable; this lasts for another 1m40s',
  );
  expect(output(hit)[0]).toContain('fresh for another 1m58s');
});
