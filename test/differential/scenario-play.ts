// Scenarios: a program, and what is done with it, as text. A file of scenarios/ has several, each under `## name`;
// lines up to `--` are the program (with a head of its own unless it says `vcl 4`), the lines behind it are steps:
//
//   GET /url | Field: value | =body     a request on the scenario's connection, and its response; each scenario has
//                                       a host of its own, and so finds nothing of another one in the cache
//   new                                 the next request comes on a connection of its own
//   sleep 100                           milliseconds
//   adm param.show ttl                  an admin command and its answer
//
// @ORIGIN@ is the origin's port. The origin answers /a to /z alike, and a few other URLs as ORIGIN_REPLIES says.
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ClientConnection, type Response } from '../harness/http-client.ts';
import { IdNames, normaliseGroup, normaliseText } from '../harness/log-text.ts';
import { Origin, type Reply, respond } from '../harness/origin.ts';
import { delay, type Sandbox } from '../harness/processes.ts';
import { type Product, type RunningProxy, startProxy } from '../harness/proxy.ts';
import { completeLog, hidePages } from './runner.ts';

export interface Scenario {
  file: string;
  name: string;
  program: string;
  steps: string[];
}

const FOLDER = new URL('scenarios/', import.meta.url).pathname;
const FRESH = { 'Cache-Control': 'max-age=100' };
const ORIGIN_REPLIES: Readonly<Record<string, Reply>> = {
  ...Object.fromEntries(
    [...'abcdefghijklmnopqrstuvwxyz'].map((c) => [`/${c}`, respond('200 OK', FRESH, `this is ${c}`)]),
  ),
  '/keyed': respond('200 OK', { ...FRESH, xkey: 'one two' }, 'keyed'),
  '/stale': respond('200 OK', { 'Cache-Control': 'max-age=0', ETag: '"s"' }, 'stale'),
  '/500': respond('500 Broken', {}, 'broken'),
  '/cookie': respond('200 OK', { 'Set-Cookie': 'a=b' }, 'cookie'),
  '/reset': [{ reset: true }],
  '/slow': [{ wait: 300 }, ...respond('200 OK', FRESH, 'slow')],
};
const HEAD = `vcl 4.1;
import std;
backend default { .host = "127.0.0.1"; .port = "@ORIGIN@"; }
`;

/** First line of a scenario whose program was refused. */
export const NOT_LOADED = 'not loaded';

export function scenarios(): Scenario[] {
  const all: Scenario[] = [];
  for (const file of readdirSync(FOLDER).sort()) {
    const text = readFileSync(join(FOLDER, file), 'utf8');
    for (const part of text.split(/^## /m).slice(1)) {
      const [name = '', ...lines] = part.split('\n');
      const at = lines.indexOf('--');
      const program = lines.slice(0, at).join('\n');
      all.push({
        file: basename(file, '.txt'),
        name,
        program: /^\s*vcl 4/m.test(program) ? program : HEAD + program,
        steps: lines.slice(at + 1).filter((l) => l.trim() !== ''),
      });
    }
  }
  return all;
}

/** Plays all scenarios against one product; for each, everything that was seen as lines. */
export async function playScenarios(
  box: Sandbox,
  product: Product,
  list: readonly Scenario[],
): Promise<string[][]> {
  const origin = await Origin.start();
  for (const [url, reply] of Object.entries(ORIGIN_REPLIES)) origin.on(url, reply);
  const dir = mkdtempSync(`${box.dir}/${product}-`);
  const program = 'vcl 4.1; backend b none;';
  // A scenario may declare more than it uses. Varnish takes its time to notice that lenient dates are switched on.
  const params = { vcc_err_unref: 'off', feature: '+http_date_postel' };
  const proxy = await startProxy(box, { product, program, dir, params, args: ['-i', 'id'] });
  try {
    const played: Played[] = [];
    for (const [i, scenario] of list.entries()) {
      const one = new Played(proxy, `v${i}`, origin.port);
      played.push(one);
      await one.play(scenario);
      // So that no scenario meets a connection of the one before.
      await origin.endIdle();
    }
    const groups = await completeLog(
      proxy,
      played.flatMap((p) => p.ports),
    );
    return played.map((p) => {
      const log = p.ports.flatMap((port) => normaliseGroup(groups.get(port)?.shift() ?? [], p.ids));
      const shown = hidePages(log, p.pages).map((l) =>
        l.replace(/(BackendOpen .*) (?:connect|reuse)$/, '$1'),
      );
      // Purges by surrogate key are noted here, and leave nothing in Varnish's log.
      return [...p.lines, ...shown.filter((l) => !/^-+ Notice xkey\./.test(l))];
    });
  } finally {
    if (proxy.daemon.running) await proxy.stop().catch(() => {});
    await origin.close();
  }
}

class Played {
  readonly lines: string[] = [];
  readonly ports: number[] = [];
  readonly pages = new Set<string>();
  readonly ids = new IdNames();
  readonly #proxy: RunningProxy;
  readonly #program: string;
  readonly #origin: number;
  #connection: ClientConnection | null = null;

  constructor(proxy: RunningProxy, program: string, origin: number) {
    this.#proxy = proxy;
    this.#program = program;
    this.#origin = origin;
  }

  async play(scenario: Scenario): Promise<void> {
    const file = `${this.#proxy.dir}-${this.#program}.vcl`;
    writeFileSync(file, scenario.program.replaceAll('@ORIGIN@', String(this.#origin)));
    const loaded = await this.#proxy.adm('vcl.load', this.#program, file);
    if (loaded.code !== 0) {
      this.lines.push(NOT_LOADED, loaded.stdout, loaded.stderr);
      return;
    }
    await this.#proxy.adm('vcl.use', this.#program);
    for (const step of scenario.steps) {
      this.lines.push(`> ${step}`);
      await this.#step(step).catch((error: unknown) => this.lines.push(String(error)));
    }
    this.#connection?.close();
    await delay(20);
  }

  async #step(step: string): Promise<void> {
    const [word = '', rest = ''] = [step.split(' ', 1)[0], step.slice(step.indexOf(' ') + 1)];
    switch (word) {
      case 'new':
        this.#connection?.close();
        this.#connection = null;
        return;
      case 'sleep':
        return delay(Number(rest));
      case 'adm':
        return this.#admin(rest);
      default:
        return this.#request(step);
    }
  }

  async #admin(line: string): Promise<void> {
    const end = await this.#proxy.adm('--', line.replaceAll('@PROGRAM@', this.#program));
    const text = `${end.stdout}${end.stderr}`.trimEnd().replaceAll(this.#proxy.dir, 'DIR');
    this.lines.push(`exit ${end.code}`, ...normaliseText(text, this.ids).split('\n'));
  }

  async #request(step: string): Promise<void> {
    const [line = '', ...fields] = step.split(' | ');
    const [method = '', url = ''] = line.split(' ');
    const body = fields.find((f) => f.startsWith('='))?.slice(1) ?? '';
    const head = fields.filter((f) => !f.startsWith('='));
    if (!head.some((f) => /^host:/i.test(f))) head.unshift(`Host: ${this.#program}.example.test`);
    if (body !== '') head.push(`Content-Length: ${body.length}`);
    if (this.#connection === null || this.#connection.ended) {
      this.#connection = await ClientConnection.open(this.#proxy.port, 6000);
      this.ports.push(this.#connection.localPort);
    }
    this.#connection.send(`${method} ${url} HTTP/1.1\r\n${head.map((f) => `${f}\r\n`).join('')}\r\n${body}`);
    const response = await this.#connection.response(method);
    this.#note(response);
    if (response.fields.some(([n, v]) => n === 'Connection' && v === 'close')) {
      this.#connection.close();
      this.#connection = null;
    }
    // The next request is to meet a whole object.
    await delay(10);
  }

  #note(response: Response): void {
    const text = response.body.toString('latin1');
    const page = text.startsWith('<!DOCTYPE html>') ? String(text.length) : null;
    if (page !== null) this.pages.add(page);
    this.lines.push(`${response.status} ${response.reason}`);
    for (const [name, value] of response.fields) {
      this.lines.push(normaliseText(`${name}: ${value === page ? 'PAGE' : value}`, this.ids));
    }
    this.lines.push(page === null ? JSON.stringify(text) : 'PAGE');
  }
}
