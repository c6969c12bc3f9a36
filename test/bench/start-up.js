// How long commands take that an operator waits for: the one-shots beside Varnish's and beside a Node that does nothing,
// and a daemon from its start to its first answer. Milliseconds by the clock, medians, in turns within one run.
//   node test/bench/start-up.js [--rounds 15] [--root FOLDER] [--daemon]
// --daemon leaves the one-shots out. --root takes the commands of another tree or of an installed package. Exits 1 above 120 ms for a one-shot or 450 ms
// for a daemon. Needs a machine that does nothing else; varnishd is left out with a notice where it is missing.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { find, freePort, startProxyd, startVarnish } from './servers/start.js';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '15' },
    daemon: { type: 'boolean', default: false },
    root: { type: 'string', default: new URL('../../', import.meta.url).pathname },
  },
});
const rounds = Number(values.rounds);
const ONE_SHOT_MS = 120;
const SERVING_MS = 450;
/** Name of ours, arguments, and of Varnish's with the same. */
const ONE_SHOTS = [
  ['proxyadm', 'varnishadm', ['ping']],
  ['proxyadm', 'varnishadm', ['vcl.list']],
  ['proxystat', 'varnishstat', ['-1']],
  ['proxystat', 'varnishstat', ['-j']],
  ['proxylog', 'varnishlog', ['-d', '-q', 'RespStatus >= 500']],
  ['proxyncsa', 'varnishncsa', ['-d']],
  ['proxytop', 'varnishtop', ['-1']],
];

const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
const ours = (name) => [process.execPath, [join(values.root, 'dist/console/bin', `${name}.js`)]];

function timed([program, lead], args) {
  const started = performance.now();
  const { status, stderr } = spawnSync(program, [...lead, ...args], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: exit ${status}, ${stderr}`);
  return performance.now() - started;
}

/** Milliseconds until a daemon answers its first request. */
async function serving(program, args, port) {
  const started = performance.now();
  const child = spawn(program, args, { stdio: 'ignore' });
  while (!(await answers(port))) {
    if (performance.now() - started > 10_000) throw new Error(`${program} does not serve`);
  }
  const took = performance.now() - started;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await gone;
  return took;
}

/** A connection comes first: one that is refused costs less than a request, and hides less of the time. */
async function answers(port) {
  const open = await new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
  if (!open) return new Promise((resolve) => setTimeout(() => resolve(false), 2));
  return new Promise((resolve) => {
    get({ port, host: '127.0.0.1', agent: false, headers: { connection: 'close' } }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode === 200));
    }).once('error', () => resolve(false));
  });
}

const dir = mkdtempSync(join(tmpdir(), 'start-up-'));
process.on('exit', () => rmSync(dir, { recursive: true, force: true }));
const varnishd = find('varnishd');
if (varnishd === null) console.log('varnishd is missing: only proxyd is measured');

const daemons = [await startProxyd(0, dir, 9), await startVarnish(0, dir, 9)];
const rows = [];
const nothing = [];
for (const [name, theirs, args] of values.daemon ? [] : ONE_SHOTS) {
  const row = { name: `${name} ${args.join(' ')}`, ours: [], theirs: [] };
  for (let i = 0; i < rounds; i++) {
    nothing.push(timed([process.execPath, ['-e', '0']], []));
    row.ours.push(timed(ours(name), ['-n', join(dir, 'proxyd'), ...args]));
    if (varnishd !== null) row.theirs.push(timed([theirs, []], ['-n', join(dir, 'varnish'), ...args]));
  }
  rows.push(row);
}
for (const daemon of daemons) await daemon?.stop();

const program = join(dir, 'answer.vcl');
writeFileSync(program, 'vcl 4.1;\nbackend default none;\nsub vcl_recv { return (synth(200)); }\n');
const row = { name: 'daemon, first answer', ours: [], theirs: [] };
for (let i = 0; i < rounds; i++) {
  const args = async (kind) => {
    const port = await freePort();
    const work = join(dir, `${kind}${i}`);
    mkdirSync(work);
    return [port, ['-F', '-n', work, '-a', `127.0.0.1:${port}`, '-f', program]];
  };
  const [port, own] = await args('p');
  row.ours.push(await serving(process.execPath, [join(values.root, 'dist/daemon/proxyd.js'), ...own], port));
  if (varnishd === null) continue;
  const [their, more] = await args('v');
  row.theirs.push(await serving(varnishd, ['-j', 'none', ...more], their));
}
rows.push(row);

const ms = (list) => (list.length === 0 ? '-' : median(list).toFixed(0)).padStart(7);
if (nothing.length > 0) console.log(`node -e 0 ${ms(nothing)} ms`);
console.log(`${''.padEnd(38)} proxyd Varnish  ms, medians of ${rounds}`);
for (const { name, ours, theirs } of rows) console.log(`${name.padEnd(38)}${ms(ours)}${ms(theirs)}`);
const slow = rows.filter(({ ours }, i) => median(ours) > (i === rows.length - 1 ? SERVING_MS : ONE_SHOT_MS));
if (slow.length > 0) {
  console.log(`too slow: ${slow.map((r) => r.name).join(', ')}`);
  process.exitCode = 1;
}
