// Cost of a console that shows the dashboard of a quiet proxy: 50 requests a second, of which some miss, some fail and
// some pass. The real program in a terminal of script(1). Prints the CPU of the console and of the manager in percent of a
// core (the manager's beside its own without a console), frames, bytes painted, and the console's memory.
//   node test/bench/dashboard.js [--seconds 30] [--rate 50] [--columns 160] [--rows 45] [--view KEY] [--cpu-prof FOLDER]
// Exits 1 above a bound. Needs dist/ and script (Debian: bsdutils).
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, createServer, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { find, LOAD_CPU, ROOT, SERVER_CPU, sleep, startProxyd } from './servers/start.js';

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '30' },
    rate: { type: 'string', default: '50' },
    columns: { type: 'string', default: '160' },
    rows: { type: 'string', default: '45' },
    view: { type: 'string', default: '1' },
    'cpu-prof': { type: 'string', default: '' },
  },
});
/** Percent of a core, and megabytes. */
const MOST = { console: 10, manager: 3, megabytes: 120 };
const TICKS = 100;
const FRAME = '\x1b[?2026h';

if (find('script') === null) {
  console.log('bench skipped: it needs script (Debian: apt-get install bsdutils)');
  process.exit(0);
}

const base = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'proxyd-dashboard-'));
const origin = createServer((request, response) => {
  request.resume();
  const bad = request.url.startsWith('/bad');
  response.writeHead(bad ? 503 : 200, { 'Cache-Control': bad ? 'no-store' : 'max-age=5' });
  setTimeout(() => response.end('x'.repeat(2000)), 5);
});
await new Promise((resolve) => origin.listen(0, '127.0.0.1', resolve));
const vcl = `
sub vcl_recv { if (req.url ~ "^/pass") { return (pass); } }
sub vcl_backend_response { if (beresp.status >= 500) { set beresp.uncacheable = true; set beresp.ttl = 0s; } }`;
const proxyd = await startProxyd(SERVER_CPU, base, origin.address().port, vcl);
// After the daemon's own handler, which kills it.
process.once('exit', () => rmSync(base, { recursive: true, force: true }));

const agent = new Agent({ keepAlive: true, maxSockets: 20 });
let sent = 0;
const load = setInterval(() => {
  const n = sent++;
  const path = n % 10 === 0 ? `/pass/${n % 7}` : n % 33 === 0 ? '/bad' : `/page/${(n * n) % 97}`;
  get({ port: proxyd.port, path, agent }, (response) => response.resume()).on('error', () => undefined);
}, 1000 / Number(options.rate));

function cpuSeconds(pid) {
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const rest = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(rest[11]) + Number(rest[12])) / TICKS;
}

const megabytes = (pid, name) =>
  Number(new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'latin1'))[1]) / 1024;

const seconds = Number(options.seconds);
/** Percent of a core that these processes take. */
async function share(...pids) {
  const before = pids.map(cpuSeconds);
  const began = performance.now();
  await sleep(seconds * 1000);
  const took = (performance.now() - began) / 1000;
  return pids.map((pid, i) => ((cpuSeconds(pid) - before[i]) / took) * 100);
}

await sleep(3000);
const [alone] = await share(proxyd.pid);

const file = join(base, 'pid');
const prof =
  options['cpu-prof'] === ''
    ? ''
    : `--cpu-prof --cpu-prof-interval 200 --cpu-prof-dir=${options['cpu-prof']} `;
const node = `${process.execPath} ${prof}${join(ROOT, 'dist/console/bin/proxyadm.js')} -n ${join(base, 'proxyd')}`;
const size = `stty cols ${options.columns} rows ${options.rows}`;
const terminal = spawn(
  'taskset',
  ['-c', String(LOAD_CPU), 'script', '-qfc', `${size}; echo $$ > ${file}; exec ${node}`, '/dev/null'],
  { env: { ...process.env, TERM: 'xterm-256color', LANG: 'C.UTF-8', XDG_CONFIG_HOME: base } },
);
process.once('exit', () => terminal.kill('SIGKILL'));
let frames = 0;
let painted = 0;
let seen = false;
terminal.stdout.setEncoding('utf8');
terminal.stdout.on('data', (text) => {
  painted += text.length;
  frames += text.split(FRAME).length - 1;
  if (text.includes('Requests')) seen = true;
});
while (!seen) await sleep(20);
if (options.view !== '1') terminal.stdin.write(options.view);
// The past is read, the code is warm.
await sleep(8000);
const pid = Number(readFileSync(file, 'utf8'));
const before = { frames, painted };
const [cpu, manager] = await share(pid, proxyd.pid);
const memory = { now: megabytes(pid, 'VmRSS'), most: megabytes(pid, 'VmHWM') };
const persec = (n) => (n / seconds).toFixed(1);
console.log(
  [
    `console  ${cpu.toFixed(1)} % of a core (at most ${MOST.console} %), ${persec(frames - before.frames)} frames a second, ${persec((painted - before.painted) / 1024)} KiB/s painted`,
    `manager  ${manager.toFixed(1)} % of a core (at most ${MOST.manager} %), ${alone.toFixed(1)} % without a console`,
    `memory   ${memory.now.toFixed(1)} MB, ${memory.most.toFixed(1)} MB ever (at most ${MOST.megabytes} MB)`,
  ].join('\n'),
);
clearInterval(load);
terminal.stdin.write('q');
await new Promise((resolve) => terminal.once('exit', resolve));
await proxyd.stop();
origin.close();
agent.destroy();
process.exit(cpu > MOST.console || manager > MOST.manager || memory.most > MOST.megabytes ? 1 : 0);
