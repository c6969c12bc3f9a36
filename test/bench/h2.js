// CPU and memory of HTTP/2 beside nginx, Varnish (over TLS behind hitch) and a bare server of the runtime, in one run:
//   node test/bench/h2.js [--seconds 5] [--rounds 3] [--only NAME,…] [--rows tls,one,clear,large,idle,waiting]
//   tls       hits of 1 KiB over TLS, 10 connections with 10 streams each
//   one       the same, one connection with 100 streams
//   clear     10 connections with 10 streams each, in clear text
//   large     100 MB bodies over TLS, in milliseconds a GB
//   idle      memory of a connection in clear text that has had one response
//   waiting   memory of a stream, of 100 on a connection, whose client gives no window for the body
// Server and load have one core each. Needs taskset, h2load, curl and openssl; what is not installed is left out.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { cpuMillis, residentBytes, tree } from './processes.js';
import {
  find,
  freePort,
  LOAD_CPU,
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
    only: { type: 'string', default: 'proxyd,nginx,varnish,bare' },
    rows: { type: 'string', default: 'tls,one,clear,large,idle,waiting' },
  },
});
/** Held open by the rows about memory. */
/** So many that garbage of the runtime does not count. */
const IDLE = 4500;
const WAITING = { connections: 10, streams: 100 };

const dir = mkdtempSync('/dev/shm/proxyd-bench-h2-');
process.once('exit', () => rmSync(dir, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

const cert = join(dir, 'cert.pem');
const key = join(dir, 'key.pem');
const both = join(dir, 'both.pem');
const OF_KEY = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
const NAMES = ['-subj', '/CN=a.example', '-addext', 'subjectAltName=DNS:a.example'];
execFileSync('openssl', ['req', ...OF_KEY, ...NAMES, '-keyout', key, '-out', cert], { stdio: 'ignore' });
writeFileSync(both, readFileSync(key, 'utf8') + readFileSync(cert, 'utf8'), { mode: 0o600 });

// Each process that is started waits for the end of this one.
process.setMaxListeners(50);
const origin = await startScript(LOAD_CPU, 'origin', 'origin.js');
/** Nothing that is held open may time out. */
const PATIENT = ['-p', 'timeout_idle=600', '-p', 'idle_send_timeout=600'];

async function proxyd(place) {
  const port = await freePort();
  const more = ['-a', `tls=127.0.0.1:${port},HTTPS`, '--cert', both, '-p', 'worker_threads=1', ...PATIENT];
  const http2 = ['-p', 'feature=+http2', '-p', 'h2_window_timeout=600'];
  const server = await startProxyd(SERVER_CPU, place, origin.port, false, 'malloc,512m', {}, [
    ...more,
    ...http2,
  ]);
  return { ...server, plain: server.port, port };
}

async function nginx(place) {
  const plain = await freePort();
  const server = await startNginx(SERVER_CPU, place, origin.port, false, { cert, key }, plain);
  return server === null ? null : { ...server, plain };
}

/** Over TLS behind hitch, where that is installed. */
async function varnish(place) {
  const more = ['-p', 'feature=+http2', ...PATIENT];
  const server = await startVarnish(SERVER_CPU, place, origin.port, false, 'malloc,512m', more);
  const program = find('hitch');
  if (server === null || program === null) return server && { ...server, plain: server.port, port: null };
  const port = await freePort();
  const conf = join(place, 'hitch.conf');
  writeFileSync(
    conf,
    `frontend = "[127.0.0.1]:${port}"\nbackend = "[127.0.0.1]:${server.port}"\npem-file = "${both}"\nworkers = 1\n` +
      `tls-protos = TLSv1.2 TLSv1.3\nalpn-protos = "h2, http/1.1"\n` +
      `${process.getuid?.() === 0 ? 'user = "nobody"\ngroup = "nogroup"\n' : ''}`,
  );
  const front = await startProgram(SERVER_CPU, 'hitch', program, ['--config', conf], port);
  return {
    ...{ plain: server.port, port, pid: server.pid, front: front.pid },
    stop: async () => {
      await front.stop();
      await server.stop();
    },
  };
}

async function bare() {
  const plain = await freePort();
  return { ...(await startScript(SERVER_CPU, 'bare', 'bare-http2.js', cert, key, String(plain))), plain };
}

const CANDIDATES = { proxyd, nginx, varnish, bare };

const cpu = ({ pid, front }) => cpuMillis(pid) + (front === undefined ? 0 : cpuMillis(front));
const memory = ({ pid }) => tree(pid).reduce((sum, each) => sum + residentBytes(each), 0);

function output(command, args) {
  return new Promise((resolve, reject) => {
    const child = spawn('taskset', ['-c', String(LOAD_CPU), command, ...args]);
    let out = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (d) => {
        out += d;
      });
    }
    child.on('error', reject);
    child.on('exit', (code) => (code === 0 ? resolve(out) : reject(new Error(`${command}: ${out}`))));
  });
}

/** Requests that were answered with 200; throws where some were not, or not over HTTP/2. */
async function h2load(url, connections, streams, time) {
  const args = ['-t', '1', '-c', connections, '-m', streams, '-D', time, url].map(String);
  const out = await output('h2load', args);
  const [, done = 0, good = 0, bad = 0] =
    /(\d+) done, (\d+) succeeded, (\d+) failed/.exec(out)?.map(Number) ?? [];
  if (done === 0 || bad > 0 || good !== done || !/^Application protocol: h2c?$/m.test(out))
    throw new Error(`h2load ${args.join(' ')}: ${out}`);
  return good;
}

const page = (server, isTls) =>
  isTls ? `https://127.0.0.1:${server.port}/page` : `http://127.0.0.1:${server.plain}/page`;

/** Microseconds of CPU a hit. */
function hits(isTls, connections, streams) {
  return {
    unit: 'µs a hit',
    isTls,
    measure: async (server) => {
      const before = cpu(server);
      const answered = await h2load(page(server, isTls), connections, streams, Number(values.seconds));
      return ((cpu(server) - before) * 1000) / answered;
    },
  };
}

const large = {
  unit: 'ms a GB',
  isTls: true,
  skips: ['bare'],
  measure: async (server) => {
    const before = cpu(server);
    const url = `https://127.0.0.1:${server.port}/100m`;
    for (let i = 0; i < 5; i++) await output('curl', ['-sk', '--http2', '-o', '/dev/null', url]);
    return ((cpu(server) - before) * 1024) / 500;
  },
};

/** Bytes by which a server grows for each of what is held. */
function held(unit, kind, connections, streams, count) {
  return {
    unit,
    isFresh: true,
    measure: async (server) => {
      const before = memory(server);
      const args = [server.plain, kind, connections, streams].map(String);
      const holder = await startScript(LOAD_CPU, 'holder', 'http2-holders.js', ...args);
      await sleep(1000);
      const grown = memory(server) - before;
      await holder.stop();
      return grown / count;
    },
  };
}

const { connections, streams } = WAITING;
const ROWS = {
  tls: hits(true, 10, 10),
  one: hits(true, 1, 100),
  clear: hits(false, 10, 10),
  large,
  idle: held('bytes a connection', 'idle', IDLE, 1, IDLE),
  waiting: held('bytes a stream', 'waiting', connections, streams, connections * streams),
};

const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];

/** Starts what is installed of the candidates, warm by some hits. */
async function started() {
  const servers = [];
  for (const name of values.only.split(',')) {
    const server = await CANDIDATES[name](mkdtempSync(join(dir, `${name}-`)));
    if (server === null) console.log(`${name}: not installed, left out`);
    else servers.push({ ...server, name });
  }
  for (const server of servers) {
    await output('curl', ['-s', '--http2-prior-knowledge', '-o', '/dev/null', page(server, false)]);
    await h2load(page(server, false), 1, 10, 1);
  }
  return servers;
}

async function stop(servers) {
  for (const server of servers) await server.stop();
}

function print(name, unit, figures) {
  const own = figures.get('proxyd');
  for (const [server, figure] of figures) {
    const ratio =
      own === undefined || server === 'proxyd' ? '' : `   proxyd / ${server}: ${(own / figure).toFixed(2)}`;
    console.log(`${name.padEnd(8)} ${server.padEnd(7)} ${figure.toFixed(1).padStart(9)} ${unit}${ratio}`);
  }
}

/** Of servers that nobody has used before: memory that was used once is there for good. */
async function measureFresh(name, row) {
  const servers = await started();
  try {
    const figures = new Map();
    for (const server of servers) figures.set(server.name, await row.measure(server));
    print(name, row.unit, figures);
  } finally {
    await stop(servers);
  }
}

async function measureWarm(name, row, servers) {
  const figures = new Map();
  for (let round = 0; round <= Number(values.rounds); round++) {
    for (const server of servers) {
      if ((row.isTls && server.port === null) || row.skips?.includes(server.name)) continue;
      const figure = await row.measure(server);
      // The first round warms up.
      if (round > 0) figures.set(server.name, [...(figures.get(server.name) ?? []), figure]);
    }
  }
  print(name, row.unit, new Map([...figures].map(([server, list]) => [server, median(list)])));
}

let warm = null;
try {
  for (const name of values.rows.split(',')) {
    const row = ROWS[name];
    if (row === undefined) throw new Error(`no row ${name}: there are ${Object.keys(ROWS).join(', ')}`);
    if (row.isFresh) await measureFresh(name, row);
    else {
      warm ??= await started();
      await measureWarm(name, row, warm);
    }
  }
} finally {
  await stop(warm ?? []);
  await origin.stop();
}
