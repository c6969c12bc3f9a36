// Cost to the worker of five consoles that read filtered logs: its own CPU time per cache hit (of the worker's
// process alone), with them and without, in turns. They are connections of this process, so that the whole path is
// real: the ring, the manager's streams, the WebSocket. The load has a fixed rate: the cost of a request depends on
// how many arrive in one turn, and readers that slowed the load down would change that. Usage: node
// test/bench/log-readers.js [--rounds 7] [--seconds 5] [--rate 6000] [--connections 64] [--readers 5] Needs taskset
// and dist/. The worker has one core; the manager, the load and the consoles share the other.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { connect } from '../../dist/modules/console/client/client.js';
import { tree } from './processes.js';
import { find, sleep, startProxyd, startScript } from './servers/start.js';

/** Bounds of the issue. */
const MOST = 1.05;
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '5' },
    rate: { type: 'string', default: '6000' },
    connections: { type: 'string', default: '64' },
    readers: { type: 'string', default: '5' },
  },
});
const SUBSCRIPTIONS = [
  { grouping: 'request', query: 'RespStatus >= 500' },
  { grouping: 'vxid', query: 'ReqURL ~ "^/nowhere"', client: true },
  { grouping: 'session', query: 'Timestamp:Resp[2] > 1.0' },
  { grouping: 'raw', filters: [{ kind: 'include-tags', tags: 'Backend_health,CLI,Error' }] },
  { grouping: 'request', query: 'FetchError or VCL_Error', backend: true },
];

if (find('taskset') === null) {
  console.log('bench skipped: it needs taskset (Debian: apt-get install util-linux)');
  process.exit(0);
}

/** CPU seconds of a process, to the nanosecond: ticks of 10 ms are too coarse for what is compared here. */
function cpuSeconds(pid) {
  return readdirSync(`/proc/${pid}/task`).reduce((sum, task) => {
    const text = readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'latin1');
    return sum + Number(text.split(' ')[0]) / 1e9;
  }, 0);
}

function load(port, seconds) {
  const script = new URL('servers/paced-load.js', import.meta.url).pathname;
  const args = [port, options.rate, seconds, options.connections].map(String);
  const child = spawn('taskset', ['-c', '1', process.execPath, script, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  child.stdout.on('data', (d) => {
    out += d;
  });
  return new Promise((resolve, reject) => {
    child.once('exit', () => {
      const answered = Number(out);
      if (answered > 0) resolve(answered);
      else reject(new Error(`the load got no answers: ${out}`));
    });
  });
}

const status = (port) =>
  new Promise((resolve, reject) => {
    get({ port, host: '127.0.0.1', path: '/page', agent: false }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode));
    }).on('error', reject);
  });

const dir = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'proxyd-readers-'));
process.once('exit', () => rmSync(dir, { recursive: true, force: true }));
const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];

const origin = await startScript(1, 'origin', 'origin.js');
const proxyd = await startProxyd(0, dir, origin.port);
const micros = { none: [], readers: [] };
let lost = 0;
try {
  for (let i = 0; i < 3; i++) {
    if ((await status(proxyd.port)) !== 200) throw new Error('proxyd does not serve');
  }
  const [worker] = tree(proxyd.pid).filter((pid) => pid !== proxyd.pid && pid !== process.pid);
  spawnSync('taskset', ['-a', '-cp', '1', String(proxyd.pid)]);
  await load(proxyd.port, 3);
  for (let round = 1; round <= Number(options.rounds); round++) {
    // Which of the two comes first changes, since a machine may grow slower or faster under both.
    for (const kind of round % 2 === 1 ? ['none', 'readers'] : ['readers', 'none']) {
      const clients = [];
      for (let i = 0; kind === 'readers' && i < Number(options.readers); i++) {
        const client = await connect({ dir: join(dir, 'proxyd'), name: 'bench' });
        const sub = { from: 'tail', ...SUBSCRIPTIONS[i % SUBSCRIPTIONS.length] };
        await new Promise((ready, failed) => {
          client.log(sub, {
            ready,
            frame: () => undefined,
            lost: (records) => {
              lost += records;
            },
            end: (error) => error && failed(new Error(error.detail ?? error.message)),
          });
        });
        clients.push(client);
      }
      const before = cpuSeconds(worker);
      const requests = await load(proxyd.port, Number(options.seconds));
      await sleep(300);
      const each = ((cpuSeconds(worker) - before) * 1e6) / requests;
      micros[kind].push(each);
      console.log(
        `round ${round}  ${kind.padEnd(8)} ${each.toFixed(2).padStart(7)} µs of worker CPU a hit, ` +
          `${Math.round(requests / Number(options.seconds))} requests/s`,
      );
      for (const client of clients) client.close();
    }
  }
} finally {
  await proxyd.stop();
  await origin.stop();
}
const [none, readers] = [median(micros.none), median(micros.readers)];
const ratio = readers / none;
console.log(
  `median   ${none.toFixed(2)} µs without, ${readers.toFixed(2)} µs with ${options.readers} consoles: ` +
    `${ratio.toFixed(3)} (at most ${MOST}); they were told of ${lost} lost records`,
);
process.exit(ratio > MOST ? 1 : 0);
