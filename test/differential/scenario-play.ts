// Scenarios: a program, and what is done with it, as text. A file of scenarios/ has several, each under `## name`;
// lines up to `--` are the program (with a head of its own unless it says `vcl 4`), the lines after it are steps:
//
//   GET /url | Field: value | =body     a request on the scenario's connection, and its response; each scenario has
//                                       a host of its own, and so finds nothing of another one in the cache
//   new                                 the next request comes on a connection of its own
//   begin GET /url                      a request on a connection of its own, whose response is not waited for
//   end                                 the response of the request that was begun last
//   sleep 100                           milliseconds
//   adm param.show ttl                  an admin command and its answer; @PROGRAM@ is the program's name there, and
//                                       @FILE@ its file
//   serve /url | @gzip | =body          what the origin answers to a URL, as scenario-origin.ts describes
//   pipeline GET /a ; GET /b            requests in one write, and their responses
//   origin                              the requests that the origin got since this was last asked, sorted
//   counters esi_req esi_errors         by how much these have grown since this was last asked
//   log -g request -i Begin,Link        this scenario's records as the log tool groups and selects them
//   loose                               no step: bodies are packed here, so their packed sizes say nothing
//   only here Notice xkey.purge a: 1    no step: a documented record that the proxy's log has once, and Varnish's not
//
// A request may have its protocol as a third word. @ORIGIN@ is the origin's port. The origin answers /a to /z alike, and a few other URLs as ORIGIN_REPLIES says.
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { ClientConnection, type Response } from '../harness/http-client.ts';
import { IdNames, normaliseGroup, normaliseText, parseGroups } from '../harness/log-text.ts';
import { Origin, type Reply, type ReplyMaker, respond } from '../harness/origin.ts';
import { delay, type Sandbox } from '../harness/processes.ts';
import { type Product, type RunningProxy, startProxy } from '../harness/proxy.ts';
import { countersAtRest } from './at-rest.ts';
import { ONLY_HTTP1, type PlayedConnection } from './requests-over-http2.ts';
import { completeLog, hidePages, openPlayed } from './runner.ts';
import { served } from './scenario-origin.ts';
import { CaseTimes } from './slow-machine.ts';

export interface Scenario {
  file: string;
  name: string;
  program: string;
  steps: string[];
  /** Packed sizes do not count. */
  loose: boolean;
  /** Records of ours alone. */
  onlyHere: string[];
}

/** Folders of scenarios, and the release that each is played on. Ours has the meanings of 9.0 for a newer one. */
export const FOLDERS = { scenarios: '7.1', 'scenarios-newer': '7.7' } as const;
export type Folder = keyof typeof FOLDERS;

const folderPath = (folder: Folder): string => new URL(`${folder}/`, import.meta.url).pathname;
const FRESH = { 'Cache-Control': 'max-age=100' };
const ONLY_HERE = 'only here ';
const LOOSE = 'loose';
const ORIGIN_REPLIES: Readonly<Record<string, Reply>> = {
  ...Object.fromEntries(
    [...'abcdefghijklmnopqrstuvwxyz'].map((c) => [`/${c}`, respond('200 OK', FRESH, `this is ${c}`)]),
  ),
  '/keyed': respond('200 OK', { ...FRESH, xkey: 'one two' }, 'keyed'),
  '/stale': respond('200 OK', { 'Cache-Control': 'max-age=0', ETag: '"s"' }, 'stale'),
  '/500': respond('500 Broken', {}, 'broken'),
  '/cookie': respond('200 OK', { 'Set-Cookie': 'a=b' }, 'cookie'),
  '/reset': [{ reset: true }],
  '/gz': respond(
    '200 OK',
    { ...FRESH, ETag: '"e"', 'Content-Encoding': 'gzip' },
    gzipSync('packed '.repeat(40)),
  ),
  '/empty': respond('200 OK', FRESH),
  '/nothing': respond('204 No Content', FRESH),
  '/chunks': respond('200 OK', { ...FRESH, 'Transfer-Encoding': 'chunked' }, '2\r\nab\r\n0\r\n\r\n'),
  '/slow-end': [
    {
      send: 'HTTP/1.1 200 OK\r\nxkey: slow\r\nCache-Control: max-age=100\r\nContent-Length: 10\r\n\r\nfirst',
    },
    { wait: 300 },
    { send: '-last' },
  ],
  '/slow': [{ wait: 300 }, ...respond('200 OK', FRESH, 'slow')],
};
const revalidated: ReplyMaker = (request) =>
  /^if-none-match:/im.test(request.head)
    ? respond('304 Not Modified', { ...FRESH, ETag: '"r"' })
    : respond('200 OK', { ...FRESH, ETag: '"r"' }, 'revalidated');
const HEAD = `vcl 4.1;
import std;
backend default { .host = "127.0.0.1"; .port = "@ORIGIN@"; }
`;

/** First line of a scenario whose program was refused. */
export const NOT_LOADED = 'not loaded';

/** All of them, or those of the files whose names match the environment's SCENARIOS. */
export function scenarios(folder: Folder = 'scenarios'): Scenario[] {
  const all: Scenario[] = [];
  const chosen = new RegExp(process.env.SCENARIOS ?? '');
  for (const file of readdirSync(folderPath(folder)).sort()) {
    if (!chosen.test(file)) continue;
    const text = readFileSync(join(folderPath(folder), file), 'utf8');
    for (const part of text.split(/^## /m).slice(1)) {
      const [name = '', ...lines] = part.split('\n');
      const at = lines.indexOf('--');
      const program = lines.slice(0, at).join('\n');
      const steps = lines.slice(at + 1).filter((l) => l.trim() !== '');
      all.push({
        file: basename(file, '.txt'),
        name,
        program: /^\s*vcl 4/m.test(program) ? program : HEAD + program,
        steps: steps.filter((l) => !l.startsWith(ONLY_HERE) && l !== LOOSE),
        loose: steps.includes(LOOSE),
        onlyHere: steps.filter((l) => l.startsWith(ONLY_HERE)).map((l) => l.slice(ONLY_HERE.length)),
      });
    }
  }
  return all;
}

export function titleOf({ file, name }: Scenario): string {
  return `${file}: ${name}`;
}

/** Everything that the answer to a scenario hangs on. What ours alone logs, Varnish does not. */
export function scenarioInput({ program, steps, loose }: Scenario): string {
  return [program, ...steps, String(loose)].join('\n');
}

/** Plays all scenarios against one product; for each, everything that was seen as lines. Over HTTP/2 those of clients and
 * tools, without the log, or one line that says why it is a scenario of HTTP/1 alone. */
export async function playScenarios(
  box: Sandbox,
  product: Product,
  list: readonly Scenario[],
  times = new CaseTimes(),
  folder: Folder = 'scenarios',
  protocol?: 'HTTP/2',
): Promise<string[][]> {
  const origin = await Origin.start();
  for (const [url, reply] of Object.entries(ORIGIN_REPLIES)) origin.on(url, reply);
  origin.on('/revalidated', revalidated);
  const dir = mkdtempSync(`${box.dir}/${product}-`);
  const program = 'vcl 4.1; backend b none;';
  // A scenario may declare more than it uses. Varnish takes its time to notice that lenient dates are switched on.
  const params = {
    vcc_err_unref: 'off',
    feature: protocol === undefined ? '+http_date_postel' : '+http_date_postel,+http2',
    // One fragment after the other, as in Varnish: parallel fetches have tests of their own.
    ...(product === 'proxyd' ? { esi_parallel: '1' } : {}),
    ...(product === 'proxyd' && folder !== 'scenarios' ? { varnish_release: '9.0' } : {}),
  };
  const proxy = await startProxy(box, { product, program, dir, params, args: ['-i', 'id'] });
  try {
    const played: Played[] = [];
    for (const [i, scenario] of list.entries()) {
      const one = new Played(proxy, `v${i}`, origin, protocol);
      played.push(one);
      const end = times.start(titleOf(scenario));
      await one.play(scenario);
      end();
      // So that no scenario meets a connection of the one before.
      await origin.endIdle();
    }
    if (protocol !== undefined) return played.map(({ alone, lines }) => (alone === null ? lines : [alone]));
    const groups = await completeLog(
      proxy,
      played.flatMap((p) => p.ports),
    );
    return played.map((p, i) => {
      const log = p.ports.flatMap((port) => normaliseGroup(groups.get(port)?.shift() ?? [], p.ids));
      const shown = hidePages(log, p.pages).map((l) =>
        l.replace(/(BackendOpen .*) (?:connect|reuse(?: [\d.]+ \d+)?)$/, '$1'),
      );
      if (list[i]?.loose) hideSizes(shown);
      return [...p.lines, ...(product === 'proxyd' ? without(shown, list[i]?.onlyHere ?? []) : shown)];
    });
  } finally {
    if (proxy.daemon.running) await proxy.stop().catch(() => {});
    await origin.close();
  }
}

/** Hides how long bodies are that were packed on the way. */
function hideSizes(lines: string[]): void {
  for (const [i, line] of lines.entries()) {
    lines[i] = line
      .replace(/( ReqAcct .* H )\d+ H$/, '$1SIZE H')
      .replace(/( Length )\d+$/, '$1SIZE')
      .replace(/( RespHeader Content-Length: )\d+$/, '$1SIZE')
      .replace(/( Gzip \S+ \S+ \S+) .*/, '$1 SIZES');
  }
}

/** The log without one line of each of these records; missing ones are reported. */
function without(log: readonly string[], records: readonly string[]): string[] {
  const left = [...log];
  for (const record of records) {
    const at = left.findIndex((l) => l.replace(/^-+ /, '') === record);
    if (at < 0) left.push(`no record here: ${record}`);
    else left.splice(at, 1);
  }
  return left;
}

interface Begun {
  connection: PlayedConnection;
  method: string;
}

class Played {
  readonly lines: string[] = [];
  readonly ports: number[] = [];
  readonly pages = new Set<string>();
  readonly ids = new IdNames();
  readonly #proxy: RunningProxy;
  readonly #program: string;
  readonly #file: string;
  readonly #origin: Origin;
  readonly #host: string;
  #asked: number;
  #loose = false;
  readonly #served = new Set<string>();
  #counted: Record<string, number> | null = null;
  #connection: PlayedConnection | null = null;
  #begun: Begun | null = null;

  /** Why only HTTP/1 can say it; null for other scenarios. */
  alone: string | null = null;
  readonly #protocol: 'HTTP/2' | undefined;

  constructor(proxy: RunningProxy, program: string, origin: Origin, protocol?: 'HTTP/2') {
    this.#protocol = protocol;
    this.#proxy = proxy;
    this.#program = program;
    this.#file = `${proxy.dir}-${program}.vcl`;
    this.#origin = origin;
    this.#host = `${program}.example.test`;
    this.#asked = origin.requests.length;
  }

  async play(scenario: Scenario): Promise<void> {
    writeFileSync(this.#file, scenario.program.replaceAll('@ORIGIN@', String(this.#origin.port)));
    const loaded = await this.#proxy.adm('vcl.load', this.#program, this.#file);
    if (loaded.code !== 0) {
      this.lines.push(NOT_LOADED, loaded.stdout, loaded.stderr);
      return;
    }
    await this.#proxy.adm('vcl.use', this.#program);
    const counts = scenario.steps.some((s) => s.startsWith('counters '));
    if (counts) this.#counted = await countersAtRest(this.#proxy);
    this.#loose = scenario.loose;
    for (const step of scenario.steps) {
      this.lines.push(`> ${step}`);
      await this.#step(step).catch((error: unknown) => {
        if (error instanceof Error && error.message.startsWith(ONLY_HTTP1)) this.alone ??= error.message;
        this.lines.push(String(error));
      });
      if (this.alone !== null) break;
    }
    this.#connection?.close();
    this.#begun?.connection.close();
    for (const url of this.#served) {
      this.#origin.on(url, ORIGIN_REPLIES[url] ?? respond('404 Not Found', {}, 'no such page\n'));
    }
    await delay(20);
  }

  async #step(step: string): Promise<void> {
    const [word = '', rest = ''] = [step.split(' ', 1)[0], step.slice(step.indexOf(' ') + 1)];
    switch (word) {
      case 'new':
        this.#connection?.close();
        this.#connection = null;
        return;
      case 'begin':
        this.#begun = this.#begin(rest, await this.#connect());
        // The next step is to meet an object that streams, also on a machine that takes its time.
        if (rest.startsWith('GET /slow-end')) await this.#fetched();
        return;
      case 'end':
        return this.#end();
      case 'sleep':
        return delay(Number(rest));
      case 'adm':
        return this.#admin(rest);
      case 'serve': {
        const { url, reply } = served(rest);
        this.#origin.on(url, reply);
        this.#served.add(url);
        return;
      }
      case 'pipeline':
        return this.#pipeline(rest.split(' ; '));
      case 'origin':
        return this.#originSaw();
      case 'counters':
        return this.#counters(rest.split(' '));
      case 'log':
        return this.#log(rest.split(' '));
      default:
        return this.#request(step);
    }
  }

  async #admin(line: string): Promise<void> {
    const end = await this.#proxy.adm(
      '--',
      line.replaceAll('@PROGRAM@', this.#program).replaceAll('@FILE@', this.#file),
    );
    const text = `${end.stdout}${end.stderr}`.trimEnd().replaceAll(this.#proxy.dir, 'DIR');
    this.lines.push(`exit ${end.code}`, ...normaliseText(text, this.ids).split('\n'));
  }

  async #pipeline(requests: readonly string[]): Promise<void> {
    this.#connection ??= await this.#connect();
    const connection = this.#connection;
    const socket = connection instanceof ClientConnection ? connection.socket : null;
    socket?.cork();
    const begun = requests.map((r) => this.#begin(r, connection));
    socket?.uncork();
    for (const { method } of begun) this.#note(await connection.response(method));
  }

  /** Waits until the origin has a request that it had not before; not for ever, since there may be none. */
  async #fetched(): Promise<void> {
    const before = this.#origin.requests.length;
    const end = performance.now() + 3000;
    while (this.#origin.requests.length === before && performance.now() < end) await delay(2);
  }

  #originSaw(): void {
    const seen = this.#origin.requests.slice(this.#asked).map((r) => `${r.method} ${r.url} ${r.proto}`);
    this.#asked = this.#origin.requests.length;
    this.lines.push(...seen.sort());
  }

  async #counters(names: readonly string[]): Promise<void> {
    const now = await countersAtRest(this.#proxy);
    for (const n of names)
      this.lines.push(`${n} ${(now[`MAIN.${n}`] ?? 0) - (this.#counted?.[`MAIN.${n}`] ?? 0)}`);
    this.#counted = now;
  }

  async #log(args: readonly string[]): Promise<void> {
    this.#connection?.close();
    this.#connection = null;
    await this.#proxy.settled();
    const text = await this.#proxy.log(...args, '-q', `ReqHeader:host eq "${this.#host}"`);
    for (const group of parseGroups(text)) this.lines.push(...normaliseGroup(group, this.ids));
  }

  async #request(step: string): Promise<void> {
    if (this.#connection === null || this.#connection.ended) this.#connection = await this.#connect();
    const { connection, method } = this.#begin(step, this.#connection);
    const response = await connection.response(method);
    this.#note(response);
    if (response.fields.some(([n, v]) => n === 'Connection' && v === 'close')) {
      this.#connection.close();
      this.#connection = null;
    }
    // The next request is to meet a whole object.
    await delay(10);
  }

  async #connect(): Promise<PlayedConnection> {
    const connection = await openPlayed(this.#proxy.port, this.#protocol);
    this.ports.push(connection.localPort);
    return connection;
  }

  #begin(step: string, connection: PlayedConnection): Begun {
    const [line = '', ...fields] = step.split(' | ');
    const [method = '', url = '', proto = 'HTTP/1.1'] = line.split(' ');
    const body = fields.find((f) => f.startsWith('='))?.slice(1) ?? '';
    const head = fields.filter((f) => !f.startsWith('='));
    if (!head.some((f) => /^host:/i.test(f))) head.unshift(`Host: ${this.#host}`);
    if (body !== '') head.push(`Content-Length: ${body.length}`);
    connection.send(`${method} ${url} ${proto}\r\n${head.map((f) => `${f}\r\n`).join('')}\r\n${body}`);
    return { connection, method };
  }

  async #end(): Promise<void> {
    if (this.#begun === null) return;
    const { connection, method } = this.#begun;
    this.#note(await connection.response(method));
    connection.close();
    this.#begun = null;
    await delay(10);
  }

  #note(response: Response): void {
    const text = response.body.toString('latin1');
    const page = text.startsWith('<!DOCTYPE html>') ? String(text.length) : null;
    if (page !== null) this.pages.add(page);
    this.lines.push(`${response.status} ${response.reason}`);
    for (const [name, value] of response.fields) {
      this.lines.push(
        normaliseText(
          `${name}: ${/^content-length$/i.test(name) && value === page ? 'PAGE' : value}`,
          this.ids,
        ),
      );
    }
    this.lines.push(page === null ? (this.#loose ? shownBody(response.body) : JSON.stringify(text)) : 'PAGE');
    if (!response.complete) this.lines.push('CUT');
  }
}

/** Compressors produce different bytes for the same text; data that cannot be decompressed is shown unchanged. */
function shownBody(body: Buffer): string {
  const text = body.toString('latin1');
  if (!text.startsWith('\x1f\x8b')) return JSON.stringify(text);
  try {
    return `gzip of ${JSON.stringify(gunzipSync(body).toString('latin1'))}`;
  } catch (error) {
    return `no good gzip (${(error as NodeJS.ErrnoException).code})`;
  }
}
