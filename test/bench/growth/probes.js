// Cost of a thousand probes without traffic, compared with Varnish with the same program and a bare `net` prober that
// makes the same polls and nothing else: CPU of the whole process tree, in per cent of a core. A row without probes
// shows the idle daemon. All of them run at the same time, under the same conditions.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { cpuSeconds } from '../processes.js';
import { LOAD_CPU, SERVER_CPU, sleep, startProxyd, startScript, startVarnish } from '../servers/start.js';

const COUNT = 1000;
/** Seconds, the default of `.interval`. */
const INTERVAL = 5;
/** Seconds until everybody polls evenly: probes that begin together are spread by their second poll. */
const SETTLED = 3 * INTERVAL;

/** Each probe has an address of its own. */
export const addressOf = (i) => `127.1.${i >> 8}.${i & 255}`;

function program(port) {
  const backends = Array.from(
    { length: COUNT },
    (_, i) =>
      `backend p${i} { .host = "${addressOf(i)}"; .port = "${port}"; .probe = { .url = "/"; .interval = ${INTERVAL}s; } }`,
  );
  const uses = backends.map((_, i) => `if (req.url == "/${i}") { set req.backend_hint = p${i}; }`);
  return `${backends.join('\n')}\nsub vcl_recv {\n${uses.join('\n')}\n}`;
}

/** Prints a line a row; `seconds` of measurement, a multiple of the interval. */
export async function probes({ dir, seconds, say }) {
  const origin = await startScript(LOAD_CPU, 'origin', 'probe-origin.js');
  const started = [];
  const run = async (name, starting) => {
    const server = await starting;
    if (server !== null) started.push([name, server]);
  };
  const home = (name) => {
    const made = join(dir, name);
    mkdirSync(made);
    return made;
  };
  const measured = Math.ceil(seconds / INTERVAL) * INTERVAL;
  try {
    const text = program(origin.port);
    await run('varnishd', startVarnish(SERVER_CPU, home('probes'), origin.port, text));
    await run('proxyd', startProxyd(SERVER_CPU, join(dir, 'probes'), origin.port, text));
    await run('idle varnishd', startVarnish(SERVER_CPU, home('idle'), origin.port));
    await run('idle proxyd', startProxyd(SERVER_CPU, join(dir, 'idle'), origin.port));
    const words = [origin.port, COUNT, INTERVAL].map(String);
    await run('bare', startScript(SERVER_CPU, 'bare', 'bare-prober.js', ...words));
    await sleep(SETTLED * 1000);
    const before = started.map(([, server]) => cpuSeconds(server.pid));
    await sleep(measured * 1000);
    const percent = Object.fromEntries(
      started.map(([name, server], i) => [name, ((cpuSeconds(server.pid) - before[i]) / measured) * 100]),
    );
    const cells = (row, names) => {
      const [ours, theirs] = names.map((name) => percent[name]);
      const texts = [ours, theirs].map((value) => (value === undefined ? '-' : `${value.toFixed(2)} %`));
      const ratio = theirs ? (ours / theirs).toFixed(2) : '-';
      say(`${row.padEnd(34)} ${texts.map((cell) => cell.padStart(16)).join(' ')}   ${ratio}`);
    };
    say(`${'CPU of a core'.padEnd(34)} ${'proxyd'.padStart(16)} ${'varnishd'.padStart(16)}   ratio`);
    cells('no probes, idle', ['idle proxyd', 'idle varnishd']);
    cells('1,000 probes, idle', ['proxyd', 'varnishd']);
    say(`${'  the same polls by bare net'.padEnd(34)} ${`${percent.bare.toFixed(2)} %`.padStart(16)}`);
  } finally {
    for (const [, server] of started) await server.stop();
    await origin.stop();
  }
}
