// CPU of TLS at the front beside nginx, a bare TLS server of the runtime, and Varnish behind hitch, in one run:
//   node test/bench/tls.js [--seconds 5] [--rounds 3] [--only NAME,…] [--rows hit,full,resumed,large,beside]
//   hit       keep-alive hits of 1 KiB over 64 connections
//   full      a whole handshake (TLS 1.3, P-256) and one request
//   resumed   a resumed handshake and one request
//   large     100 MB bodies, in milliseconds a GB
//   beside    p99 of plain hits while 500 handshakes a second are made, and without (proxyd alone)
// Server and load have one core each. Needs taskset, wrk, curl and openssl; what is not installed is left out.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { cpuMillis } from './processes.js';
import {
  find,
  freePort,
  LOAD_CPU,
  ROOT,
  SERVER_CPU,
  sleep,
  startNginx,
  startProgram,
  startProxyd,
  startScript,
  startVarnish,
} from './servers/start.js';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string', default: 'proxyd,nginx,bare,hitch' },
    rows: { type: 'string', default: 'hit,full,resumed,large,beside' },
  },
});
const seconds = Number(values.seconds);
const dir = mkdtempSync('/dev/shm/proxyd-bench-tls-');
process.once('exit', () => rmSync(dir, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

const cert = join(dir, 'cert.pem');
const key = join(dir, 'key.pem');
const both = join(dir, 'both.pem');
execFileSync(
  'openssl',
  [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-days',
    '2',
  ].concat([
    '-subj',
    '/CN=a.example',
    '-addext',
    'subjectAltName=DNS:a.example',
    '-keyout',
    key,
    '-out',
    cert,
  ]),
  { stdio: 'ignore' },
);
writeFileSync(both, readFileSync(key, 'utf8') + readFileSync(cert, 'utf8'), { mode: 0o600 });

const origin = await startScript(LOAD_CPU, 'origin', 'origin.js');

async function proxyd() {
  const tls = await freePort();
  const more = ['-a', `tls=127.0.0.1:${tls},HTTPS`, '--cert', both, '-p', 'worker_threads=1'];
  const server = await startProxyd(SERVER_CPU, dir, origin.port, false, 'malloc,512m', {}, more);
  return { ...server, name: 'proxyd', plain: server.port, port: tls };
}

async function hitch() {
  const program = find('hitch');
  const varnish =
    program === null ? null : await startVarnish(SERVER_CPU, dir, origin.port, false, 'malloc,512m');
  if (varnish === null) return null;
  const port = await freePort();
  const conf = join(dir, 'hitch.conf');
  writeFileSync(
    conf,
    `frontend = "[127.0.0.1]:${port}"\nbackend = "[127.0.0.1]:${varnish.port}"\npem-file = "${both}"\nworkers = 1\n` +
      `tls-protos = TLSv1.2 TLSv1.3\n${process.getuid?.() === 0 ? 'user = "nobody"\ngroup = "nogroup"\n' : ''}`,
  );
  const front = await startProgram(SERVER_CPU, 'hitch', program, ['--config', conf], port);
  return {
    name: 'hitch',
    port,
    pids: [front.pid, varnish.pid],
    stop: async () => {
      await front.stop();
      await varnish.stop();
    },
  };
}

const CANDIDATES = {
  proxyd,
  nginx: () => startNginx(SERVER_CPU, dir, origin.port, false, { cert, key }),
  bare: () => startScript(SERVER_CPU, 'bare', 'bare-tls.js', cert, key),
  hitch,
};

const cpu = (server) => (server.pids ?? [server.pid]).reduce((sum, pid) => sum + cpuMillis(pid), 0);

function output(command, args) {
  return new Promise((resolve, reject) => {
    const child = spawn('taskset', ['-c', String(LOAD_CPU), command, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let out = '';
    let notes = '';
    child.stdout.on('data', (d) => {
      out += d;
    });
    child.stderr.on('data', (d) => {
      notes += d;
    });
    child.on('error', reject);
    child.on('exit', (code) => (code === 0 ? resolve(out) : reject(new Error(`${command}: ${notes}${out}`))));
  });
}

async function wrk(url, time, more = []) {
  const out = await output('wrk', ['-t', '1', '-c', '64', '-d', `${time}s`, ...more, url]);
  return { requests: Number(/(\d+) requests in/.exec(out)?.[1] ?? 0), out };
}

const CLIENT = join(ROOT, 'test/bench/servers/tls-connections.js');
const connections = async (port, kind, time, together = 4, most = 0) =>
  Number(await output(process.execPath, [CLIENT, port, kind, time, together, most].map(String)));

/** Micro- or milliseconds of a server for one unit of work. */
const ROWS = {
  hit: {
    unit: 'µs a hit',
    measure: async (server) => {
      const before = cpu(server);
      const { requests } = await wrk(`https://127.0.0.1:${server.port}/page`, seconds);
      return ((cpu(server) - before) * 1000) / requests;
    },
  },
  full: {
    unit: 'µs a connection',
    measure: async (server) => {
      const before = cpu(server);
      const answered = await connections(server.port, 'full', seconds);
      return ((cpu(server) - before) * 1000) / answered;
    },
  },
  resumed: {
    unit: 'µs a connection',
    measure: async (server) => {
      const before = cpu(server);
      const answered = await connections(server.port, 'resumed', seconds);
      return ((cpu(server) - before) * 1000) / answered;
    },
  },
  large: {
    unit: 'ms a GB',
    skips: ['bare'],
    measure: async (server) => {
      const before = cpu(server);
      const url = `https://127.0.0.1:${server.port}/100m`;
      for (let i = 0; i < 5; i++) await output('curl', ['-sk', '--http1.1', '-o', '/dev/null', url]);
      return ((cpu(server) - before) * 1024) / 500;
    },
  },
};

const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
const servers = [];
try {
  for (const name of values.only.split(',')) {
    mkdirSync(dir, { recursive: true });
    const server = await CANDIDATES[name]();
    if (server === null) console.log(`${name}: not installed, left out`);
    else servers.push({ ...server, name });
  }
  for (const server of servers) {
    await output('curl', ['-sk', '-o', '/dev/null', `https://127.0.0.1:${server.port}/page`]);
    await wrk(`https://127.0.0.1:${server.port}/page`, 2);
  }
  for (const name of values.rows.split(',')) {
    const row = ROWS[name];
    if (row === undefined) continue;
    const figures = new Map();
    for (let round = 0; round <= Number(values.rounds); round++) {
      for (const server of servers) {
        if (row.skips?.includes(server.name)) continue;
        const figure = await row.measure(server);
        // The first round warms up.
        if (round > 0) figures.set(server.name, [...(figures.get(server.name) ?? []), figure]);
      }
    }
    const own = figures.get('proxyd') ?? [];
    for (const [server, list] of figures) {
      // The machine's speed changes from minute to minute: each round is compared with itself.
      const ratios = own.map((figure, i) => figure / list[i]).sort((a, b) => a - b);
      const at = (share) => (ratios[Math.floor((ratios.length - 1) * share)] ?? Number.NaN).toFixed(2);
      const ratio =
        server === 'proxyd' ? '' : `   proxyd / ${server}: ${at(0.5)} (${at(0.25)} to ${at(0.75)})`;
      console.log(
        `${name.padEnd(8)} ${server.padEnd(7)} ${median(list).toFixed(1).padStart(8)} ${row.unit}${ratio}`,
      );
    }
  }
  const own = servers.find(({ name }) => name === 'proxyd');
  if (values.rows.split(',').includes('beside') && own !== undefined) {
    const p99 = (out) => /99%\s+(\S+)/.exec(out)?.[1] ?? '?';
    const plain = `http://127.0.0.1:${own.plain}/page`;
    const alone = await wrk(plain, seconds, ['--latency']);
    const handshakes = connections(own.port, 'full', seconds + 1, 16, 500);
    await sleep(500);
    const beside = await wrk(plain, seconds, ['--latency']);
    console.log(
      `beside   p99 of plain hits ${p99(alone.out)} alone, ${p99(beside.out)} beside ${Math.round((await handshakes) / (seconds + 1))} handshakes a second`,
    );
  }
} finally {
  for (const server of servers) await server.stop();
  await origin.stop();
}
