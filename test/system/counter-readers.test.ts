// Programs that read the counters of Varnish's daemon, against a live proxyd: what they expect, written down from
// their documents and sources as rules. And the daemon's own page for Prometheus, read by a strict parser.
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClientConnection } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { parsePrometheus } from '../harness/prometheus-text.ts';
import { backendProgram, type RunningProxy, startProxy, tool } from '../harness/proxy.ts';

interface Counter {
  description: string;
  flag: string;
  format: string;
  value: number;
}

const box = new Sandbox('proxyd-readers');
/** As reload scripts name programs. */
const ACTIVE = 'reload_20261121_060000_17';
const outputs = { j: '', 1: '', x: '', V: '', vcl: '' };
let origin: Origin;
let proxy: RunningProxy;
let metricsPort = 0;

const stat = (...args: string[]) => tool('proxyd', 'stat', ['-n', proxy.dir, ...args]);

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', respond('200 OK', { 'Cache-Control': 'max-age=100000' }, 'hello\n'));
  origin.on('/probe', [...respond('200 OK', {}, 'fine'), { close: true }]);
  const probed = `backend p_1 { .host = "127.0.0.1"; .port = "${origin.port}";
    .probe = { .url = "/probe"; .interval = 300s; .initial = 0; .window = 1; .threshold = 1; } }
    sub vcl_recv { if (req.url == "/p") { set req.backend_hint = p_1; } }`;
  proxy = await startProxy(box, {
    program: backendProgram(origin.port, probed),
    args: ['--metrics', '127.0.0.1:0'],
  });
  metricsPort = Number(
    await until('the port for metrics', () => /Metrics on \S+:(\d+)/.exec(proxy.daemon.stderr)?.[1]),
  );
  // A reload: what was there before becomes cold, and its backends go.
  const file = box.path('reload');
  writeFileSync(file, backendProgram(origin.port, probed));
  for (const line of [`vcl.load ${ACTIVE} ${file}`, `vcl.use ${ACTIVE}`, 'vcl.state boot cold']) {
    expect(await proxy.adm(...line.split(' '))).toMatchObject({ code: 0 });
  }
  await proxy.get('/one');
  await proxy.get('/one');
  await until('the probes, and no backend of before', async () => {
    const counters = await proxy.counters();
    return counters[`VBE.${ACTIVE}.p_1.happy`] === 1 && !('VBE.boot.p_1.happy' in counters);
  });
  await proxy.counterReaches('MAIN.cache_hit', 1);
  const [j, one, x, version, vcl] = await Promise.all([
    stat('-j', '-t', '0'),
    stat('-1'),
    stat('-x'),
    stat('-V'),
    proxy.adm('vcl.list', '-j'),
  ]);
  Object.assign(outputs, {
    j: j.stdout,
    1: one.stdout,
    x: x.stdout,
    V: version.stdout + version.stderr,
    vcl: vcl.stdout,
  });
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

const counters = (): Record<string, Counter> =>
  (JSON.parse(outputs.j) as { counters: Record<string, Counter> }).counters;

describe('the published Prometheus exporter', () => {
  it('finds version 1 and an object of counters', () => {
    const parsed = JSON.parse(outputs.j) as Record<string, unknown>;
    expect(parsed.version).toBe(1);
    expect(parsed.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/);
    expect(Object.keys(parsed).sort()).toEqual(['counters', 'timestamp', 'version']);
    for (const [name, c] of Object.entries(counters())) {
      expect([name, typeof c.description, typeof c.value]).toEqual([name, 'string', 'number']);
      expect(['c', 'g', 'b']).toContain(c.flag);
      expect(['i', 'B', 'd', 'b']).toContain(c.format);
    }
  });

  it('reads every value as an unsigned number of 64 bits, written as one', () => {
    const values = [...outputs.j.matchAll(/"value": (\S+)/g)].map((m) => m[1] as string);
    expect(values.length).toBe(Object.keys(counters()).length);
    for (const v of values) expect(v).toMatch(/^\d{1,20}$/);
    for (const v of values) expect(BigInt(v) < 2n ** 64n).toBe(true);
  });

  it('makes metrics of the names whose label keys and help texts agree, and of which none comes twice', () => {
    const seen = new Set<string>();
    const shape = new Map<string, string>();
    for (const [full, c] of Object.entries(counters())) {
      const { name, labels, grouped } = exporterMetric(full);
      expect(name).toMatch(/^varnish_[a-z][a-z0-9_]*$/);
      const key = `${name}{${Object.entries(labels).join()}}`;
      expect(seen.has(key), key).toBe(false);
      seen.add(key);
      const form = `${Object.keys(labels).join()}|${grouped ? '' : c.description}`;
      expect(shape.get(name) ?? form, full).toBe(form);
      shape.set(name, form);
    }
    expect(shape.has('varnish_backend_happy')).toBe(true);
    expect(shape.has('varnish_main_sessions')).toBe(true);
    expect(shape.get('varnish_sma_g_bytes')).toMatch(/^type\|/);
  });

  it('finds the latest poll in the lowest bit of the bitmap', () => {
    expect(counters()[`VBE.${ACTIVE}.p_1.happy`]).toMatchObject({ flag: 'b', format: 'b', value: 1 });
  });

  it('finds a version in -V', () => {
    expect(outputs.V).toMatch(/\d+\.\d+\.\d+/);
  });

  // netdata needs the whole release, the Datadog agent takes the first number of it.
  it.each([[/varnish-(\d+)\.(\d+)\.(\d+)/], [/varnish-(\d+)/]])('finds the release by %s', (pattern) => {
    expect(pattern.exec(outputs.V.split('\n')[0] ?? '')?.[1]).toBe('7');
  });
});

/** The exporter's conversion of counter names: lower case, the middle as a label, two families folded into labels. */
function exporterMetric(full: string): { name: string; labels: Record<string, string>; grouped: boolean } {
  const group = /^(VBE|SMA|MGT|MAIN)\./.exec(full)?.[1] ?? '';
  const rest = full.toLowerCase().slice(group === '' ? 0 : group.length + 1);
  const last = rest.lastIndexOf('.');
  const ident = full.split('.').length > 2 ? rest.slice(0, last) : '';
  const stem = (ident === '' ? rest : rest.slice(last + 1)).replaceAll('.', '_');
  const part = group === 'VBE' ? 'backend' : group === '' ? 'main' : group.toLowerCase();
  let name = `varnish_${part}_${stem}`;
  const labels: Record<string, string> = {};
  if (group === 'VBE') {
    // Names of programs that come and go are left out; a uuid or an address would become another label.
    expect(ident).not.toMatch(/[0-9a-z]{8}-[0-9a-z]{4}-[0-9a-z]{4}-|\(/);
    labels.backend = ident.replace(/^(boot|reload_[^.]*)\./, '');
    labels.server = 'unknown';
  } else if (ident !== '') labels[/^varnish_sm[af]_/.test(name) ? 'type' : 'id'] = ident;
  for (const [prefix, total, to] of [
    ['varnish_main_fetch', 'varnish_main_s_fetch', 'varnish_main_fetch'],
    ['varnish_main_sess', 'varnish_main_s_sess', 'varnish_main_sessions'],
  ] as const) {
    if (name === total) return { name: `${to}_total`, labels, grouped: true };
    if (!name.startsWith(`${prefix}_`)) continue;
    labels.type = name.slice(prefix.length + 1);
    name = to;
    return { name, labels, grouped: true };
  }
  return { name, labels, grouped: false };
}

describe('telegraf', () => {
  it('version 1 splits -1 at the first dot and takes an unsigned number after it', () => {
    const lines = outputs[1].trimEnd().split('\n');
    expect(lines.length).toBeGreaterThan(150);
    for (const line of lines) {
      const [name, value] = line.trim().split(/\s+/) as [string, string];
      expect(name).toMatch(/^(MAIN|MGT|SMA|THR|VBE|VCP|WAITER|WRK)\.\S+$/);
      expect(value).toMatch(/^\d{1,20}$/);
    }
    for (const wanted of ['MAIN.cache_hit', 'MAIN.cache_miss', 'MAIN.uptime']) {
      expect(lines.some((l) => l.startsWith(`${wanted} `))).toBe(true);
    }
  });

  it('version 2 finds the active program by vcl.list -j and its backends by name', () => {
    const [version, , , ...programs] = JSON.parse(outputs.vcl) as [
      number,
      string[],
      number,
      ...Record<string, unknown>[],
    ];
    expect(version).toBe(2);
    const active = programs.filter((p) => p.status === 'active').map((p) => p.name);
    expect(active).toEqual([ACTIVE]);
    const backends = new Set<string>();
    const others = new Set<string>();
    for (const name of Object.keys(counters())) {
      const m = /^VBE\.([\w-]+)\.([\w-]+)\.([\w-]+)$/.exec(name);
      expect(m === null, name).toBe(!name.startsWith('VBE.'));
      if (m !== null) (active.includes(m[1]) ? backends : others).add(m[2] as string);
    }
    expect([...backends].sort()).toEqual(['default', 'p_1']);
    expect([...others]).toEqual([]);
  });
});

describe('netdata', () => {
  it('wants four fields on a line of -1, and backends and storages in their parts', () => {
    for (const line of outputs[1].trimEnd().split('\n')) {
      const [name = '', ...more] = line.trim().split(/\s+/);
      expect(more.length, line).toBeGreaterThanOrEqual(3);
      const parts = name.split('.').length;
      expect(parts, line).toBe(name.startsWith('VBE.') ? 4 : /^(?:SMA|THR|WAITER)\./.test(name) ? 3 : 2);
    }
  });

  it.each([
    ...[
      'MGT.uptime',
      'MGT.child_start',
      'MGT.child_exit',
      'MGT.child_stop',
      'MGT.child_died',
      'MGT.child_dump',
    ],
    ...['MGT.child_panic', 'MAIN.sess_conn', 'MAIN.sess_dropped', 'MAIN.client_req', 'MAIN.cache_hit'],
    ...['MAIN.cache_hitpass', 'MAIN.cache_miss', 'MAIN.cache_hitmiss', 'MAIN.n_expired', 'MAIN.n_lru_nuked'],
    ...[
      'MAIN.n_lru_moved',
      'MAIN.n_lru_limited',
      'MAIN.threads',
      'MAIN.threads_limited',
      'MAIN.threads_created',
    ],
    ...['MAIN.threads_destroyed', 'MAIN.threads_failed', 'MAIN.thread_queue_len', 'MAIN.backend_conn'],
    ...['MAIN.backend_unhealthy', 'MAIN.backend_busy', 'MAIN.backend_fail', 'MAIN.backend_reuse'],
    ...[
      'MAIN.backend_recycle',
      'MAIN.backend_retry',
      'MAIN.backend_req',
      'MAIN.esi_errors',
      'MAIN.esi_warnings',
    ],
    ...[
      'MAIN.uptime',
      'SMA.s0.g_space',
      'SMA.s0.g_bytes',
      'SMA.s0.g_alloc',
      `VBE.${ACTIVE}.default.bereq_hdrbytes`,
    ],
    ...[`VBE.${ACTIVE}.default.bereq_bodybytes`, `VBE.${ACTIVE}.default.beresp_hdrbytes`],
    `VBE.${ACTIVE}.default.beresp_bodybytes`,
  ])('finds %s', (name) => {
    expect(counters()).toHaveProperty([name]);
  });
});

describe('datadog', () => {
  it('takes flags c and g of JSON as they are, with whole numbers', () => {
    for (const c of Object.values(counters())) {
      if (c.flag !== 'b') expect(Number.isInteger(c.value)).toBe(true);
    }
  });

  it('reads the elements of XML: one name, value and flag a stat', () => {
    const stats = [...outputs.x.matchAll(/<stat>([\s\S]*?)<\/stat>/g)].map((m) => m[1] as string);
    expect(stats.length).toBe(Object.keys(counters()).length);
    for (const s of stats) {
      expect(s.replaceAll(/\s*<(\w+)>([^<]*)<\/\1>\s*/g, '$1 ')).toBe('name value flag format description ');
      expect(s).toMatch(/<value>\d+<\/value>/);
    }
  });

  it('reads -1 up to the first line with less than three fields, a dot or a number third', () => {
    for (const line of outputs[1].trimEnd().split('\n')) {
      expect(line.trim().split(/\s+/)[2], line).toMatch(/^(\.|\d+\.\d\d)$/);
    }
  });
});

describe('/metrics', () => {
  const page = async (): Promise<string> => {
    const response = await fetch(`http://127.0.0.1:${metricsPort}/metrics`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    return response.text();
  };

  it('is valid, and has what -j has of the active program', async () => {
    const families = parsePrometheus(await page());
    const value = (name: string, label?: string) =>
      families.get(name)?.samples.find((s) => label === undefined || Object.values(s.labels)[0] === label)
        ?.value;
    expect(value('proxyd_main_cache_hit_total')).toBe(String(counters()['MAIN.cache_hit']?.value));
    expect(value('proxyd_backend_req_total', 'default')).toBe(
      String(counters()[`VBE.${ACTIVE}.default.req`]?.value),
    );
    expect(value('proxyd_backend_up', 'p_1')).toBe('1');
    expect(families.get('proxyd_backend_up')?.samples).toHaveLength(2);
    expect(value('proxyd_thread_requests_total', '0')).toBe(String(counters()['THR.0.requests']?.value));
    for (const name of Object.keys(counters()).filter((n) => /^(MAIN|MGT)\./.test(n))) {
      const stem = `proxyd_${name.toLowerCase().replace('.', '_')}`;
      expect(
        [stem, `${stem}_total`, `${stem}_seconds`].some((n) => families.has(n)),
        name,
      ).toBe(true);
    }
  });

  it.each([
    ['GET', '/', 404],
    ['GET', '/metrics?x=1', 200],
    ['HEAD', '/metrics', 200],
    ['POST', '/metrics', 405],
  ])('%s %s gets %i', async (method, path, status) => {
    const response = await fetch(`http://127.0.0.1:${metricsPort}${path}`, { method });
    expect(response.status).toBe(status);
  });

  it('hangs up on what is no request and on heads that are too large', async () => {
    for (const bytes of [
      'nonsense\r\n\r\n',
      `GET /metrics HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
    ]) {
      const connection = await ClientConnection.open(metricsPort);
      connection.send(bytes);
      expect(await connection.closedByPeer()).toBe(true);
    }
  });

  it('stays there while no worker runs, and reports it', async () => {
    expect((await proxy.adm('stop')).code).toBe(0);
    const families = parsePrometheus(await page());
    expect(families.get('proxyd_worker_up')?.samples[0]?.value).toBe('0');
    expect(families.has('proxyd_main_cache_hit_total')).toBe(true);
  });
});
