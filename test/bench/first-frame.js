// How long a console takes from the start of its process to its first full screen, in a real terminal (script's), with an
// empty log, with a few megabytes of it behind it, and with a gibibyte; with ten minutes of counters in each. Full is: the
// charts are drawn, requests are ranked, percentiles are there, backends are known. Milliseconds by the clock, medians.
//   node test/bench/first-frame.js [--rounds 7] [--log 1024] [--columns 120] [--rows 45] [--cpu-prof FOLDER]
// Exits 1 above 800 ms with log behind it. Needs wrk, script (util-linux), and a machine that does nothing else; runs dist/.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import xterm from '@xterm/headless';
import { CountersHistory } from '../../dist/modules/daemon/stats/counters-history.js';
import { describeCounters } from '../../dist/modules/daemon/stats/counters-reader.js';
import { find, LOAD_CPU, ROOT, SERVER_CPU, startProxyd, startScript } from './servers/start.js';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    log: { type: 'string', default: '1024' },
    columns: { type: 'string', default: '120' },
    rows: { type: 'string', default: '45' },
    'cpu-prof': { type: 'string', default: '' },
  },
});
const MOST_MS = 800;
const GIVE_UP_MS = 15_000;
const rounds = Number(values.rounds);
const columns = Number(values.columns);
const rows = Number(values.rows);
const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];

for (const program of ['wrk', 'script'])
  if (find(program) === null) {
    process.stderr.write(`first-frame.js needs ${program}\n`);
    process.exit(2);
  }

const base = mkdtempSync(join('/dev/shm', 'proxyd-first-frame-'));
const cleanUp = () => rmSync(base, { recursive: true, force: true });

/** Ten minutes of a manager that was there before, of as many counters as a daemon has. */
function writeHistory(dir) {
  const names = ['MAIN.uptime', 'MAIN.client_req', 'MAIN.cache_hit', 'MAIN.cache_miss'];
  for (let i = 0; i < 300; i++) names.push(`VBE.boot.b${i}.req`);
  const info = describeCounters(names);
  const history = new CountersHistory(join(dir, 'history'), () => undefined);
  history.open();
  const now = Date.now();
  for (let ago = 600; ago > 0; ago--) {
    const n = BigInt(600 - ago);
    Array.from(history.take(now - ago * 1000, { info, values: names.map((_, i) => n * BigInt(i % 50)) }));
  }
  history.close();
}

const origin = await startScript(LOAD_CPU, 'origin', 'origin.js');

/** Log bytes of a hit, a little less than measured. */
const BYTES_A_REQUEST = 900;

/** Requests one object until this many bytes of log are written. */
function fillLog(port, dir, bytes) {
  const stat = join(ROOT, 'dist/console/bin/proxystat.js');
  const logged = () => {
    const args = [stat, '-n', dir, '-1', '-f', 'MAIN.client_req'];
    const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    return Number(/client_req +(\d+)/.exec(stdout)?.[1] ?? 0) * BYTES_A_REQUEST;
  };
  while (logged() < bytes)
    spawnSync('wrk', ['-t1', '-c16', `-d${bytes > 64 << 20 ? 5 : 1}`, `http://127.0.0.1:${port}/`]);
}

/** One console: milliseconds to its first screen, and to the first full one. */
function attach(dir, withLog) {
  const terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true });
  const prof = values['cpu-prof'] === '' ? '' : `--cpu-prof --cpu-prof-dir=${values['cpu-prof']} `;
  const command = `stty cols ${columns} rows ${rows}; exec ${process.execPath} ${prof}${join(ROOT, 'dist/console/bin/proxyadm.js')} -n ${dir}`;
  const started = performance.now();
  const child = spawn('script', ['-qfec', command, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { ...process.env, TERM: 'xterm-256color', LANG: 'C.UTF-8', XDG_CONFIG_HOME: base },
  });
  return new Promise((resolve, reject) => {
    let first = 0;
    let done = false;
    const late = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`no full screen in time:\n${text(terminal)}`));
    }, GIVE_UP_MS);
    child.stdout.on('data', (data) => {
      const at = performance.now() - started;
      terminal.write(data, () => {
        if (done) return;
        const screen = text(terminal);
        if (first === 0 && screen.includes('Requests')) first = at;
        if (!isFull(screen, withLog)) return;
        done = true;
        clearTimeout(late);
        const cpu = cpuOf(child.pid);
        child.once('exit', () => resolve({ first, full: at, cpu }));
        child.stdin.on('error', () => undefined);
        child.stdin.write('q');
      });
    });
  });
}

/** Milliseconds of processor time of the console that script runs: what is left to compare on a machine that is busy. */
function cpuOf(script) {
  const pid = readFileSync(`/proc/${script}/task/${script}/children`, 'utf8').trim();
  const [, user, system] = /^.*\) (?:\S+ ){11}(\d+) (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  return (Number(user) + Number(system)) * 10;
}

function isFull(screen, withLog) {
  const wants = [/● running/, /boot\.default +healthy/, /min ago|s ago/];
  if (withLog) wants.push(/all +\d/, /Top[\s\S]*│ \/ +\d/);
  return !/collecting/.test(screen) && wants.every((each) => each.test(screen));
}

function text(terminal) {
  const { active } = terminal.buffer;
  const lines = [];
  for (let y = 0; y < rows; y++) lines.push(active.getLine(active.baseY + y)?.translateToString(true) ?? '');
  return lines.join('\n');
}

let slow = false;
const most = Number(values.log);
for (const [name, ring, fill] of [
  ['empty log', 80, 0],
  ['8 MiB of log', 80, 8],
  [`${most} MiB of log`, most, most],
]) {
  const dir = join(base, `log-${fill}`);
  const work = join(dir, 'proxyd');
  mkdirSync(work, { recursive: true });
  writeHistory(work);
  const proxyd = await startProxyd(SERVER_CPU, dir, origin.port, false, 'malloc,64m', {}, ['-l', `${ring}m`]);
  // After the daemon's own handler, which kills it.
  process.once('exit', cleanUp);
  fillLog(proxyd.port, work, fill * 2 ** 20);
  const took = [];
  for (let i = 0; i <= rounds; i++) took.push(await attach(work, fill > 0));
  // The first one reads files that are not in memory yet.
  took.shift();
  const full = median(took.map((one) => one.full));
  const first = median(took.map((one) => one.first));
  const worst = Math.max(...took.map((one) => one.full));
  const cpu = median(took.map((one) => one.cpu));
  if (fill > 0 && full > MOST_MS) slow = true;
  process.stdout.write(
    `${name.padEnd(18)} first screen ${first.toFixed(0).padStart(5)} ms   full ${full.toFixed(0).padStart(5)} ms   worst ${worst.toFixed(0).padStart(5)} ms   processor ${cpu} ms\n`,
  );
  await proxyd.stop();
}
await origin.stop();
if (slow) process.stdout.write(`a full screen takes longer than ${MOST_MS} ms\n`);
process.exit(slow ? 1 : 0);
