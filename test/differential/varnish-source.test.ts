// The console's source on a real Varnish: its log equals the output of varnishncsa, its counters those of
// varnishstat, commands have Varnish's replies; the same over an ssh that runs the command here; and it leaves no
// processes.
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ConnectionState, LogHandlers, SourceEvents } from '../../console/client/source.ts';
import { parseVarnishTarget } from '../../console/client/varnish-target.ts';
import { answerItems, textField } from '../../console/model/session/admin-store.ts';
import { parseBackendList } from '../../console/model/session/backends.ts';
import { asJson } from '../../console/varnish/text-lists.ts';
import { VarnishSource } from '../../console/varnish/varnish-source.ts';
import { RecordCursor } from '../../protocol/log-record.ts';
import type { CounterInfo, LogTransaction } from '../../protocol/messages.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import { fetchOnce } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { delay, installed, run, Sandbox, until } from '../harness/processes.ts';
import { type RunningProxy, startProxy } from '../harness/proxy.ts';

const there = ['varnishd', 'varnishlog', 'varnishstat', 'varnishadm', 'varnishncsa'].every(installed);
if (!there) process.stderr.write('varnish-source.test.ts is skipped: Varnish is not installed\n');

/** A source that is listened to. */
class Listener implements SourceEvents {
  readonly source: VarnishSource;
  readonly states: ConnectionState[] = [];
  readonly events: string[] = [];
  info: CounterInfo[] = [];
  samples: Record<string, bigint>[] = [];
  /** Lines `METHOD URL STATUS` of requests, live and of before. */
  live: string[] = [];
  before: string[] = [];

  constructor(source: VarnishSource, query = '') {
    this.source = source;
    const handlers: LogHandlers = {
      batch: (transactions) => this.live.push(...requestLines(transactions)),
      lost: () => undefined,
      failed: (message) => this.events.push(`failed ${message}`),
      earlier: () => ({
        batch: (transactions) => this.before.push(...requestLines(transactions)),
        done: () => true,
      }),
    };
    source.log({ grouping: 'request', from: 'tail', ...(query === '' ? {} : { query }) }, handlers);
    source.start(this);
  }

  get up(): boolean {
    return this.states.at(-1)?.state === 'up';
  }

  connection(state: ConnectionState): void {
    this.states.push(state);
  }

  counters(info: CounterInfo[]): void {
    this.info = info;
  }

  values(_at: number, values: bigint[]): void {
    this.samples.push(Object.fromEntries(this.info.map((row, i) => [row.name, values[i] as bigint])));
  }

  past(): void {}

  event(kind: string, text: string): void {
    this.events.push(`${kind} ${text}`.trim());
  }
}

/** The output of varnishncsa for the same. */
const FORMAT = '%m %U%q %s';

function requestLines(transactions: readonly LogTransaction[]): string[] {
  return transactions.flatMap((tx) => {
    if (tx.type !== 'request') return [];
    const output = new Map<number, string>();
    const cursor = new RecordCursor(tx.records);
    while (cursor.next())
      if (cursor.tag !== Tag.ReqURL || !output.has(cursor.tag)) output.set(cursor.tag, cursor.text);
    return [`${output.get(Tag.ReqMethod)} ${output.get(Tag.ReqURL)} ${output.get(Tag.RespStatus)}`];
  });
}

/** Processes whose command line has this text: those of tools and shells for one working directory. */
function processesOf(text: string): string[] {
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return [];
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ');
      return line.includes(text) && !line.startsWith('varnishd') && !line.includes('/varnishd ')
        ? [line]
        : [];
    } catch {
      return [];
    }
  });
}

describe.skipIf(!there)('a Varnish in the console', () => {
  const box = new Sandbox('varnish-source');
  const open: VarnishSource[] = [];
  const { PATH } = process.env;
  let origin: Origin;
  let varnish: RunningProxy;

  const program = (): string => `vcl 4.1;
backend default { .host = "127.0.0.1"; .port = "${origin.port}"; }
backend dead { .host = "127.0.0.1"; .port = "9"; .probe = { .interval = 1s; .timeout = 1s; } }
sub vcl_recv {
  if (req.url ~ "^/dead") { set req.backend_hint = dead; }
  if (req.url ~ "^/pass") { return (pass); }
}`;
  const start = (dir = box.path('v')): Promise<RunningProxy> =>
    startProxy(box, { product: 'varnish', program: program(), dir });
  const listen = (text: string, query?: string): Listener => {
    const source = new VarnishSource(parseVarnishTarget(text));
    open.push(source);
    return new Listener(source, query);
  };
  const printed = async (): Promise<string[]> => {
    const { stdout } = await run('varnishncsa', ['-n', varnish.dir, '-d', '-F', FORMAT]);
    return stdout.split('\n').filter((line) => line !== '');
  };

  beforeAll(async () => {
    origin = await Origin.start();
    origin.on('*', respond('200 OK', { 'Cache-Control': 'max-age=100' }, 'hello\n'));
    // An ssh that runs the command here, and notes what it was given.
    mkdirSync(join(box.dir, 'bin'));
    const ssh = join(box.dir, 'bin', 'ssh');
    writeFileSync(
      ssh,
      `#!/bin/sh
echo "$@" >> ${box.dir}/ssh.log
while [ "$1" != -- ]; do shift; done
if [ "$2" = locked ]; then echo "locked: Permission denied (publickey)." >&2; exit 255; fi
exec /bin/sh -c "$3"
`,
    );
    chmodSync(ssh, 0o755);
    varnish = await start();
  });

  afterEach(() => {
    process.env.PATH = PATH;
    for (const source of open.splice(0)) source.close();
  });

  afterAll(async () => {
    await varnish?.stop();
    await origin.close();
    await box.dispose();
  });

  const traffic = async (n: number): Promise<void> => {
    for (let i = 0; i < n; i++) {
      const url = ['/a', '/b?c=d', '/pass', '/dead', `/new${i}`][i % 5] as string;
      await fetchOnce(varnish.port, url);
    }
  };

  it('has the log of varnishncsa and the counters of varnishstat, from before and from now on', async () => {
    await traffic(40);
    const before = await until('what was logged', async () => {
      const all = await printed();
      return all.length >= 40 && all.length;
    });
    const seen = listen(varnish.dir);
    await until('connected', () => seen.up);
    const first = await until('a sample', () => seen.samples.at(-1));
    await until('what was before', () => seen.before.length >= before);
    await traffic(100);
    await varnish.adm('ban', 'req.url ~ ^/new');
    await varnish.adm('vcl.inline', 'again', JSON.stringify(program().replaceAll('\n', ' ')).slice(1, -1));
    await traffic(60);
    const lines = await until('the log', async () => {
      const all = await printed();
      return all.length >= before + 160 && seen.before.length + seen.live.length >= all.length ? all : null;
    });
    expect([...seen.before, ...seen.live].sort()).toEqual([...lines].sort());
    expect(seen.before.length).toBe(before);

    const stat = async (): Promise<Record<string, bigint>> => {
      const { stdout } = await run('varnishstat', ['-n', varnish.dir, '-j']);
      const { counters } = JSON.parse(stdout) as { counters: Record<string, { value: number }> };
      return Object.fromEntries(
        Object.entries(counters)
          // Times, concurrent log records of probes, and digits beyond doubles.
          .filter(
            ([name]) =>
              /^(MAIN|SMA)\.|\.req$/.test(name) &&
              !/uptime|shm_|locks|threads|ws_|summs|vcl_ref|vmods/.test(name),
          )
          .map(([name, { value }]) => [name, BigInt(value)]),
      );
    };
    const theirs = await stat();
    const ours = await until('the same', () => {
      const last = seen.samples.at(-1);
      return last !== undefined && last['MAIN.client_req'] === theirs['MAIN.client_req'] ? last : null;
    });
    expect(Object.fromEntries(Object.keys(theirs).map((name) => [name, ours[name]]))).toEqual(theirs);
    const requests = Number((ours['MAIN.client_req'] as bigint) - (first['MAIN.client_req'] as bigint));
    expect(requests).toBe(seen.live.length);
    expect(seen.source.product).toBe('Varnish');
  });

  it('filters what was before and what comes by a query', async () => {
    await traffic(10);
    const seen = listen(varnish.dir, 'ReqURL eq "/pass"');
    await until('what was before', () => seen.before.includes('GET /pass 200'));
    await traffic(10);
    await until('what comes', () => seen.live.includes('GET /pass 200'));
    expect(new Set([...seen.before, ...seen.live])).toEqual(new Set(['GET /pass 200']));
  });

  it('has the answers of varnishadm, with their status', async () => {
    const { source, ...seen } = listen(varnish.dir);
    expect(seen.states).toEqual([]);
    await until('the commands', () => source.commands?.has('ban.list'));
    expect(source.commands?.has('ban.soft')).toBe(false);
    expect(await source.command('nonsense')).toMatchObject({ status: 101 });
    expect(await source.command('param.set cli_limit x')).toMatchObject({ status: 106 });
    const list = await source.command('backend.list -j');
    expect(list.status).toBe(200);
    expect(list.body).toContain('"boot.dead"');
    expect(await source.command('ban obj.http.x ~ "a[\\\\s]b"')).toEqual({ status: 200, body: '' });
    expect((await source.command('ban.list')).body).toContain('obj.http.x ~ a[\\s]b');
    const text = `vcl.inline quoted << END\n${program()}\n# "\\n" $HOME 'x'\nEND`;
    expect(await source.command(text)).toMatchObject({ status: 200 });
    expect((await source.command('vcl.show quoted')).body).toContain(`# "\\n" $HOME 'x'`);
    expect(await source.command('vcl.inline bad "vcl 4.1; nonsense"')).toMatchObject({ status: 106 });
  });

  it('reads the tables of a release without JSON as its JSON', async () => {
    const { source } = listen(varnish.dir);
    await until('the commands', () => source.commands?.has('ban.list'));
    await source.command('vcl.label lab boot');
    await source.command('ban req.url == /banned');
    await source.command('param.set default_ttl 7');
    /** Lines common to both; the rest of one is missing in the other. */
    const items = (body: string, names: readonly string[]): unknown[] =>
      answerItems(body).map((item) => names.map((name) => textField(item, name)));
    const lists: [string, string[]][] = [
      ['vcl.list', ['status', 'state', 'temperature', 'name']],
      ['storage.list', ['name', 'storage']],
      ['param.show', ['name', 'units', 'implemented']],
    ];
    for (const [command, names] of lists) {
      const line = `${command} -j`;
      const [json, text] = [(await source.command(line)).body, (await source.command(command)).body];
      const theirs = items(json, names).map(String);
      expect(items(asJson(line, text), names).map(String), command).toEqual(
        theirs.map((row) => row.replace(/,true$/, ',')),
      );
      expect(theirs.length).toBeGreaterThan(1);
    }
    // A completed one is not in the table.
    const bans = items(asJson('ban.list -j', (await source.command('ban.list')).body), ['spec']);
    expect(items((await source.command('ban.list -j')).body, ['spec'])).toEqual(expect.arrayContaining(bans));
    expect(bans).toContainEqual(['req.url == /banned']);
    const backends = (body: string): unknown[] =>
      parseBackendList(body).map((row) => [row.name, row.admin, row.probe?.window, row.health]);
    const json = (await source.command('backend.list -j')).body;
    expect(backends(json).length).toBeGreaterThan(1);
    expect(backends(asJson('backend.list -j', (await source.command('backend.list')).body))).toEqual(
      backends(json),
    );
  });

  it('works over ssh, asks nothing, and says why it cannot', async () => {
    process.env.PATH = `${join(box.dir, 'bin')}:${PATH}`;
    await traffic(5);
    const seen = listen(`ssh://web1/${varnish.dir}`);
    await until('connected', () => seen.up);
    expect(seen.states.at(-1)).toMatchObject({ state: 'up', version: expect.stringMatching(/^varnish-\d/) });
    await until('what was before', () => seen.before.includes('GET /a 200'));
    await traffic(5);
    await until('what comes', () => seen.live.includes('GET /a 200'));
    expect((await seen.source.command('status')).body).toContain('running');
    const calls = readFileSync(join(box.dir, 'ssh.log'), 'latin1').trimEnd().split('\n');
    for (const line of calls) expect(line).toMatch(/-oBatchMode=yes .*-- web1 /);

    const locked = listen('ssh://locked/x');
    const state = await until('a reason', () => locked.states.find((s) => s.state === 'waiting'));
    expect(state).toMatchObject({ reason: expect.stringContaining('ssh locked: locked: Permission denied') });
  });

  it('leaves no process behind', async () => {
    process.env.PATH = `${join(box.dir, 'bin')}:${PATH}`;
    const seen = [listen(varnish.dir), listen(`ssh://web1/${varnish.dir}`)];
    await until('connected', () => seen.every((one) => one.up));
    await until('its processes', () => processesOf(varnish.dir).some((line) => line.includes('varnishlog')));
    // A tool without output does not notice that its reader is gone.
    await varnish.adm('stop');
    await delay(1000);
    for (const source of open.splice(0)) source.close();
    await until('nothing left', () => processesOf(varnish.dir).length === 0);
    await varnish.adm('start');
  });

  it('says that the instance is gone, and finds it again', async () => {
    const dir = box.path('v');
    const short = await start(dir);
    const seen = listen(dir);
    await until('connected', () => seen.up);
    await short.stop();
    const state = await until('gone', () => seen.states.find((s) => s.state === 'waiting'));
    expect(state).toMatchObject({ reason: expect.stringContaining(dir) });
    const again = await start(dir);
    await until('back', () => seen.up);
    await until('its requests', async () => {
      await fetchOnce(again.port, '/again');
      return seen.live.includes('GET /again 200');
    });
    await again.adm('stop');
    await until('the child stopped', () => seen.events.includes('stopped stopped'));
    expect(seen.up).toBe(true);
    await again.adm('start');
    await until('the child started', () => seen.events.includes('started started'));
    await again.serving();
    await until('its requests again', async () => {
      await fetchOnce(again.port, '/more');
      return seen.live.includes('GET /more 200');
    });
    await again.stop();
  });

  it('says what is not there', async () => {
    const seen = listen(join(box.dir, 'nowhere'));
    const state = await until('a reason', () => seen.states.find((s) => s.state === 'waiting'));
    expect(state).toMatchObject({
      reason: expect.stringMatching(
        /^cannot read a Varnish here under the name .*nowhere: it is not running/,
      ),
    });
    expect(await seen.source.command('status')).toEqual({ status: 0, body: 'not connected' });
  });
});
