// Plays the corpus against one product: each program is loaded into the one running daemon, used, asked what its
// .play file says, and discarded. What is seen is what cases show in runner.ts: responses, what the origin was
// asked, the normalised log; and the answers of admin commands. It judges nothing.
//
// Lives of a second end while a busy machine does other things. So our clock stands almost still, and a `sleep` advances it.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { IdNames, normaliseGroup } from '../harness/log-text.ts';
import { freePort, Origin } from '../harness/origin.ts';
import { delay, type Sandbox } from '../harness/processes.ts';
import { type Product, ROOT, type RunningProxy, startProxy } from '../harness/proxy.ts';
import { worked } from './at-rest.ts';
import { type PlayRequest, parsePlay } from './corpus-play.ts';
import { completeLog, hidePages, originRequests, Player, type Seen } from './runner.ts';

const CORPUS = new URL('corpus/', import.meta.url).pathname;

/** Names of the programs, in order. */
export function corpusNames(): string[] {
  return readdirSync(CORPUS)
    .filter((file) => file.endsWith('.vcl'))
    .map((file) => file.slice(0, -4))
    .sort();
}

/** Everything that the answer to a program hangs on: its text, its play, and the files of the folders it names. */
export function corpusInput(name: string): string {
  const read = (path: string): string => readFileSync(join(CORPUS, path), 'utf8');
  const text = read(`${name}.vcl`) + read(`${name}.play`);
  const named = ['lib', 'sites', 'labels'].filter((folder) => text.includes(`${folder}/`));
  const files = named.flatMap((folder) =>
    readdirSync(join(CORPUS, folder)).map((file) => `${folder}/${file}`),
  );
  return [text, ...files.sort().map(read)].join('\n');
}

/** The text of a program as this product is given it: the field of ids has another name in each. */
function textFor(file: string, product: Product, ports: { origin: number; dead: number }): string {
  const text = readFileSync(file, 'utf8')
    .replaceAll('@ORIGIN@', String(ports.origin))
    .replaceAll('@DEAD@', String(ports.dead));
  return product === 'varnish' ? text : text.replaceAll('X-Varnish', 'X-Proxy-Id');
}

/** A directory like corpus/ in which every file is ready for the product. */
function prepare(dir: string, product: Product, ports: { origin: number; dead: number }): void {
  cpSync(CORPUS, dir, { recursive: true });
  const walk = (at: string): void => {
    for (const entry of readdirSync(at, { withFileTypes: true })) {
      const path = join(at, entry.name);
      if (entry.isDirectory()) walk(path);
      else if (entry.name.endsWith('.vcl')) writeFileSync(path, textFor(path, product, ports));
    }
  };
  walk(dir);
}

function requestBytes(step: PlayRequest): string {
  const fields = step.fields.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const length = step.body === null ? '' : `Content-Length: ${Buffer.byteLength(step.body, 'latin1')}\r\n`;
  return `${step.method} ${step.url} HTTP/1.1\r\n${fields}${length}\r\n${step.body ?? ''}`;
}

/** How much slower our clock is than that of the machine (chosen: what takes ten seconds may do so in a life of one). */
const SLOWER = 20;

/** Time as a product under test has it. */
interface Passage {
  /** Variables of its environment. */
  readonly env: Record<string, string>;
  /** Lets time pass, and what it sets off end. */
  pass(ms: number, proxy: RunningProxy): Promise<void>;
}

const REAL: Passage = { env: {}, pass: delay };

/** @param file has how far the clock is ahead */
function slowClock(file: string): Passage {
  let ahead = 0;
  const advance = (ms: number): void => {
    ahead += ms;
    writeFileSync(file, String(ahead).padEnd(16));
  };
  advance(0);
  return {
    env: {
      CLOCK_AHEAD: file,
      CLOCK_SLOW: `${Date.now()} ${SLOWER}`,
      NODE_OPTIONS: `--require ${ROOT}test/harness/shifted-clock.cjs`,
    },
    async pass(ms, proxy) {
      await proxy.requestsLogged(0);
      advance(ms);
      // Timers are the machine's.
      await delay(ms);
      await worked(proxy);
    },
  };
}

interface Played {
  name: string;
  player: Player;
  seen: Seen;
  ids: IdNames;
}

async function playProgram(
  name: string,
  proxy: RunningProxy,
  product: Product,
  dir: string,
  dead: number,
  time: Passage,
): Promise<Played> {
  const origin = await Origin.start();
  prepare(dir, product, { origin: origin.port, dead });
  const ids = new IdNames();
  const player = new Player(origin, proxy.port, ids, undefined, () => worked(proxy));
  const seen: Seen = { client: player.lines, origin: [], log: [], failure: null };
  const command = async (line: string, shown: boolean): Promise<void> => {
    const done = await proxy.adm(...line.replaceAll('@DIR@', dir).split(' '));
    if (shown) player.lines.push(`adm ${line}: ${done.code}`);
    else if (done.code !== 0) throw new Error(`${line}: ${done.stdout}${done.stderr}`);
  };
  const label = name.replaceAll('-', '_');
  try {
    const play = parsePlay(readFileSync(join(CORPUS, `${name}.play`), 'utf8'), `${name}.test`);
    for (const [url, reply] of play.replies) origin.on(url, reply);
    for (const line of play.before) await command(line, false);
    await command(`vcl.load ${label} ${dir}/${name}.vcl`, false);
    await command(`vcl.use ${label}`, false);
    for (const step of play.steps) {
      if (step.kind === 'request') {
        player.lines.push(`> ${step.method} ${step.url}`);
        await player.raw(requestBytes(step), step.method);
      } else if (step.kind === 'connect') await player.end();
      else if (step.kind === 'sleep') await time.pass(step.ms, proxy);
      else await command(step.command, true);
    }
  } catch (error) {
    seen.failure = error instanceof Error ? error.message : String(error);
  }
  await player.end();
  // Origins that are asked in the background may not have answered yet.
  if (product === 'varnish') await delay(30);
  else await proxy.requestsLogged(0);
  await origin.endIdle();
  // Polls arrive at any time.
  seen.origin = originRequests(origin, 0, ids).filter((line) => !/^\w+ \/alive /.test(line));
  await proxy.adm('vcl.use', 'boot');
  await proxy.adm('vcl.discard', label);
  await origin.close();
  return { name, player, seen, ids };
}

/** Ids that programs put into headers of their own, and ports, which differ from run to run. */
function hideRunOf(lines: string[], ids: IdNames, port: number): string[] {
  return lines.map((line) =>
    line
      .replace(/(X-Req-Id: )(\d+)/gi, (_, name: string, id: string) => `${name}${ids.name(id)}`)
      .replaceAll(`127.0.0.1:${port}`, '127.0.0.1:PORT')
      // A fetch that follows at once may meet the connection of the one before it, or not yet.
      .replace(/( BackendOpen .*) (connect|reuse)$/, '$1 HOW')
      // A refused connection may give the reason or only the refusal.
      .replace(/: fail errno .*$/, ': fail')
      .replace(/(\bAge:) \d$/, '$1 FEW'),
  );
}

/** Plays these programs and returns what was seen, by program. */
export async function playCorpus(
  box: Sandbox,
  product: Product,
  names: readonly string[],
): Promise<Map<string, Seen>> {
  const dir = mkdtempSync(`${box.dir}/${product}-`);
  const programs = join(box.dir, `programs-${product}-${dir.slice(-6)}`);
  mkdirSync(programs);
  const time = product === 'varnish' ? REAL : slowClock(`${dir}.clock`);
  const proxy = await startProxy(box, {
    product,
    dir,
    env: time.env,
    program: 'vcl 4.1; backend default none;',
    params: { vcl_path: programs },
  });
  try {
    const dead = await freePort();
    const played: Played[] = [];
    for (const name of names) played.push(await playProgram(name, proxy, product, programs, dead, time));
    const groups = await completeLog(
      proxy,
      played.flatMap((p) => p.player.ports),
    );
    for (const { player, seen, ids } of played) {
      const log = player.ports.flatMap((port) => {
        // A port may have come again with a later program.
        const group = groups.get(port)?.shift();
        if (group === undefined) return ['no session in the log for this connection'];
        return hidePages(normaliseGroup(group, ids), player.pages);
      });
      seen.log = hideRunOf(log, ids, proxy.port);
      seen.client = hideRunOf(seen.client, ids, proxy.port);
      seen.origin = hideRunOf(seen.origin, ids, proxy.port);
    }
    return new Map(played.map((p) => [p.name, p.seen]));
  } finally {
    if (proxy.daemon.running) await proxy.stop().catch(() => {});
  }
}
