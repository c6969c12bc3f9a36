// How long admin commands take at their largest inputs, and how long a plain hit waits at the most meanwhile: one proxyd with
// 1,000 backends, 10,000 objects with a key each, 50,000 bans, 100,000 dead letters for the edge and a program of 5 MB; the
// lists of a fleet of 4,096 nodes with 256 messages are made without one. Every command of the table is measured, or the
// script says which is not. Usage: npm run bench -- --commands [--only PREFIX]
import { mkdirSync, writeFileSync } from 'node:fs';
import { Agent, createServer, get } from 'node:http';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { connect } from '../../dist/modules/console/client/client.js';
import { encodeRecord } from '../../dist/modules/daemon/edge/queue/journal.js';
import { LIMITS } from '../../dist/modules/protocol/codec.js';
import { COMMANDS } from '../../dist/modules/protocol/tables/commands.js';
import { fleetLists } from './growth/fleet-lists.js';
import { LOAD_CPU, SERVER_CPU, startProxyd } from './servers/start.js';

const BACKENDS = 1000;
const OBJECTS = 10_000;
const BANS = 50_000;
const LETTERS = 100_000;
const PROGRAM = 5_000_000;
/** The longest command line of the console protocol. */
const INLINE = LIMITS.line - 1000;

/** A program of about this many bytes. */
function program(port, bytes) {
  const lines = [`vcl 4.1;\nbackend default { .host = "127.0.0.1"; .port = "${port}"; }\nsub vcl_recv {\n`];
  for (let length = 0, i = 0; length < bytes; i++) {
    const line = `  if (req.url == "/page-${i}" && req.http.Cookie ~ "a${i}=") { set req.http.X-${i % 50} = "value ${i}"; }\n`;
    lines.push(line);
    length += line.length;
  }
  return `${lines.join('')}}\n`;
}

/** In the order in which they are given; what stands in front of | is not measured. */
function commands(dir) {
  return [
    'ping',
    'ping -j',
    'status',
    'status -j',
    'pid',
    'pid -j',
    'banner',
    'help',
    'help -j',
    'listen.list',
    'listen.list -j',
    'storage.list',
    'storage.list -j',
    'storage.largest 100',
    'storage.largest -j 100',
    'panic.show',
    'panic.clear -z',
    'event.list',
    'event.list -j',
    'param.show',
    'param.show -l',
    'param.show -j',
    'param.set default_ttl 130',
    'param.reset default_ttl',
    'debug.xid',
    'debug.srandom',
    'debug.fragfetch 1',
    'debug.listen_address',
    'backend.list *.*',
    'backend.list -p *.*',
    'backend.list -j -p *.*',
    'backend.set_health *.* sick',
    'backend.set_health *.* auto',
    'ban --local obj.http.nothing == new',
    'ban.soft --local obj.http.nothing == soft',
    'ban.list',
    'ban.list -j',
    'ban.count obj.http.xkey ~ 7',
    'ban.count -j req.url ~ 7',
    'edge.status',
    'edge.status -j',
    { name: 'edge.dead, cli_limit=48k', line: 'param.set cli_limit 48k | edge.dead' },
    { name: 'edge.dead -j, cli_limit=48k', line: 'edge.dead -j' },
    'param.set cli_limit 99999999b | edge.dead',
    'edge.dead -j',
    `edge.show ${LETTERS / 2}`,
    `edge.drop ${LETTERS / 2}`,
    'edge.retry all',
    'edge.queue',
    'edge.queue -j',
    'edge.dryrun on',
    'edge.resume',
    'edge.pause',
    'edge.test',
    `vcl.load big ${dir}/big.vcl`,
    { name: 'vcl.inline', line: `vcl.inline inline << END\n${program(1, INLINE)}END` },
    'vcl.list',
    'vcl.list -j',
    'vcl.deps',
    'vcl.deps -j',
    'vcl.show big',
    'vcl.show -v big',
    'vcl.label name big',
    'vcl.use big',
    'vcl.use boot | vcl.state inline cold',
    'vcl.discard inline',
    'stop',
    'start',
  ];
}

/** Not measured: they end connection or worker, want an answer to a challenge, or wait for other nodes, ten seconds at the
 * most. */
const WITHOUT = new Set([
  ...['auth', 'quit', 'debug.panic.worker'],
  ...['fleet.discard', 'fleet.load', 'fleet.use'],
]);

export async function commandTimes({ dir, only, say }) {
  const origin = createServer((request, response) => {
    const key = /^\/k\/(\d+)/.exec(request.url)?.[1];
    response.writeHead(200, { 'Cache-Control': 'max-age=100000', ...(key && { xkey: `key-${key}` }) });
    response.end('body');
  });
  await new Promise((resolve) => origin.listen(0, '127.0.0.1', resolve));
  const { port: originPort } = origin.address();
  const letters = Array.from({ length: LETTERS }, (_, i) => ({
    put: {
      ...{ id: String(i + 1), kind: 'delete', type: 'url', network: 'staging', origin: 'vxid 1' },
      ...{ target: `https://www.example.com/some/page/${i}.html`, state: 'dead', attempts: 9 },
      ...{ added: 0, due: 0, detail: '500 of the network; tried 9 times', poll: '' },
    },
  }));
  const queue = join(dir, 'queue');
  mkdirSync(queue, { mode: 0o777 });
  writeFileSync(join(queue, 'journal.0'), Buffer.concat(letters.map(encodeRecord)));
  const settings = join(dir, 'edge.conf');
  const fields = ['client_token', 'client_secret', 'access_token'].map((name) => `purge_${name} = x\n`);
  writeFileSync(
    settings,
    `provider = fake\npurge_host = 127.0.0.1:1\n${fields.join('')}dir = ${queue}\nmax_entries = 1000000\n`,
    { mode: 0o600 },
  );
  writeFileSync(join(dir, 'big.vcl'), program(originPort, PROGRAM));
  const backends = Array.from(
    { length: BACKENDS },
    (_, i) =>
      `backend b${i} { .host = "127.0.0.1"; .port = "${originPort}"; .probe = { .interval = 1h; .initial = 3; } }`,
  );
  const text = `import std; import edge; import xkey; include "edge_auto.vcl"; ${backends.join('\n')}`;
  const server = await startProxyd(
    // Traffic is the worker's, and the manager need not take its time.
    `${SERVER_CPU},${LOAD_CPU}`,
    dir,
    originPort,
    text,
    'malloc,256m',
    { EDGE_CONNECTOR_CONFIG: settings },
    ['-j', 'none', '-p', 'vcc_err_unref=off', '-p', 'ban_lurker_sleep=0', '-p', 'cli_limit=99999999'],
  );
  const bans = only === undefined || 'ban'.startsWith(only) || only.startsWith('ban');
  try {
    const client = await connect({ dir: join(dir, 'proxyd'), name: 'bench' });
    await client.command('edge.pause');
    say(`filling: ${OBJECTS} objects, ${BANS} bans`);
    await fill(server.port, OBJECTS);
    for (let i = 0; i < (bans ? BANS : 0); i += 50)
      await Promise.all(
        Array.from({ length: 50 }, (_, j) => client.command(`ban --local obj.http.nothing == ${i + j}`)),
      );
    const watch = new Worker(new URL('./servers/hit-watch.js', import.meta.url), {
      workerData: { port: server.port },
    });
    const longest = () =>
      new Promise((resolve) => {
        watch.once('message', resolve);
        watch.postMessage('longest');
      });
    const rows = [];
    for (const each of commands(dir)) {
      const line = typeof each === 'string' ? each : each.line;
      const shown = typeof each === 'string' ? each.split(' | ').at(-1) : each.name;
      if (only !== undefined && !shown.startsWith(only)) continue;
      const parts = line.split(' | ');
      for (const before of parts.slice(0, -1)) await client.command(before);
      await longest();
      const began = performance.now();
      const { status, body } = await client.command(parts.at(-1));
      const ms = performance.now() - began;
      // Work left to do, as a queue that continues.
      await new Promise((resolve) => setTimeout(resolve, 1000));
      rows.push({ shown, ms, hit: await longest(), status, bytes: Buffer.byteLength(body), body });
    }
    for (const { shown, ms } of fleetLists().filter(
      (row) => only === undefined || row.shown.startsWith(only),
    ))
      rows.push({ shown, ms, hit: null, status: 200, bytes: 0 });
    rows.sort((a, b) => b.ms - a.ms);
    say(`${'command'.padEnd(42)} ${'ms'.padStart(8)} ${'a hit waits'.padStart(12)}  status      bytes`);
    for (const { shown, ms, hit, status, bytes, body } of rows) {
      const wrong = status === 200 ? '' : `  ${body.trim().split('\n')[0].slice(0, 60)}`;
      say(
        `${shown.replace(dir, '').slice(0, 42).padEnd(42)} ${ms.toFixed(1).padStart(8)} ${(hit === null ? '-' : hit.toFixed(1)).padStart(12)}  ${status} ${String(bytes).padStart(13)}${wrong}`,
      );
    }
    const measured = new Set(rows.map(({ shown }) => shown.split(' ')[0]));
    const left = COMMANDS.filter(({ name }) => !measured.has(name) && !WITHOUT.has(name));
    if (only === undefined && left.length > 0)
      say(`not measured: ${left.map(({ name }) => name).join(', ')}`);
    client.close();
    await watch.terminate();
  } finally {
    await server.stop();
    origin.close();
  }
}

/** Stores this many objects, over a few connections. */
async function fill(port, count) {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  const one = (path) =>
    new Promise((resolve, reject) => {
      get({ port, host: '127.0.0.1', path, agent }, (response) => {
        response.resume();
        response.on('end', resolve);
      }).on('error', reject);
    });
  await one('/page');
  for (let at = 0; at < count; at += 16)
    await Promise.all(Array.from({ length: 16 }, (_, i) => one(`/k/${at + i}`)));
  agent.destroy();
}
