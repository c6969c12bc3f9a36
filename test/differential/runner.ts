// Plays the cases against one product and returns, for each, everything an outsider can see: the
// responses, the requests the origin received, and the log of the sessions, normalised.
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { ClientConnection, type Response } from '../harness/http-client.ts';
import {
  clientPort,
  IdNames,
  isFlushed,
  normaliseGroup,
  normaliseText,
  parseGroups,
  type Transaction,
} from '../harness/log-text.ts';
import { freePort, Origin } from '../harness/origin.ts';
import { delay, type Sandbox, until } from '../harness/processes.ts';
import { type Product, type RunningProxy, startProxy } from '../harness/proxy.ts';
import { countersAtRest } from './at-rest.ts';
import { caseInputs } from './case-input.ts';
import type { Case } from './cases.ts';
import { ONLY_HTTP1, type PlayedConnection, RequestsOverHttp2 } from './requests-over-http2.ts';
import { CaseTimes } from './slow-machine.ts';

/** Observations of one case, as lines of text. */
export type Seen = {
  client: string[];
  origin: string[];
  log: string[];
  /** The case did not come to its end. */
  failure: string | null;
};

/** The cases of one test file and their environment. */
export interface Suite {
  cases: readonly Case[];
  /** File beside this one; @ORIGIN@ and @DEAD@ become ports. */
  program: string;
  params?: Record<string, string>;
  storage?: string[];
  /** The protocol of clients; HTTP/1 unless it says otherwise. */
  protocol?: 'HTTP/2';
  /** Cases after which the counters are read, before any other case is played. */
  counted?: (c: Case) => boolean;
  /** Takes the counters that were read. */
  onCounters?: (product: Product, counters: Record<string, number>) => void;
}

/** Steps of a case; each adds to the observations. */
export class Player {
  readonly #origin: Origin;
  readonly #port: number;
  readonly #ids: IdNames;
  readonly #protocol: 'HTTP/2' | undefined;
  readonly lines: string[] = [];
  /** Client ports of the connections opened, in order. */
  readonly ports: number[] = [];
  /** Lengths of pages that the product made itself: they hold its name and the digits of an id. */
  readonly pages = new Set<string>();
  /** A response of this case was cut. */
  cut = false;
  #connection: PlayedConnection | null = null;
  /** The connections of other clients, while another one acts. */
  readonly #clients = new Map<string, PlayedConnection | null>();
  #client = '';
  readonly #settle: () => Promise<unknown>;

  /** @param settle resolves when the product has done what was left to do after a response */
  constructor(
    origin: Origin,
    port: number,
    ids: IdNames,
    protocol?: 'HTTP/2',
    settle: () => Promise<unknown> = () => delay(10),
  ) {
    this.#protocol = protocol;
    this.#settle = settle;
    this.#origin = origin;
    this.#port = port;
    this.#ids = ids;
  }

  async #open(): Promise<PlayedConnection> {
    if (this.#connection === null || this.#connection.ended) {
      this.#connection = await openPlayed(this.#port, this.#protocol);
      this.ports.push(this.#connection.localPort);
      this.lines.push('connect');
    }
    return this.#connection;
  }

  /** The following happens on a connection of its own, until the next call. */
  as(client: string): this {
    this.#clients.set(this.#client, this.#connection);
    this.#client = client;
    this.#connection = this.#clients.get(client) ?? null;
    return this;
  }

  #note(response: Response): void {
    for (const head of response.interim) this.lines.push(`interim ${head.trim()}`);
    this.lines.push(`${response.proto} ${response.status} ${response.reason}`);
    const page = isOwnPage(response.body) ? String(response.body.length) : null;
    if (page !== null) this.pages.add(page);
    for (const [name, value] of response.fields) {
      const shown = /^content-length$/i.test(name) && value === page ? 'PAGE' : value;
      this.lines.push(normaliseText(`${name}: ${shown}`, this.#ids));
    }
    // How much of a cut body still came through is a matter of luck.
    if (!response.complete) this.cut = true;
    this.lines.push(`body ${response.framing} ${response.complete ? describe(response.body) : 'CUT'}`);
  }

  get(url: string, fields: Record<string, string> = {}, host = 'example.test'): Promise<void> {
    return this.exchange('GET', url, fields, undefined, host);
  }

  async exchange(
    method: string,
    url: string,
    fields: Record<string, string> = {},
    body?: string,
    host = 'example.test',
  ): Promise<void> {
    let text = `${method} ${url} HTTP/1.1\r\nHost: ${host}\r\n`;
    for (const [name, value] of Object.entries(fields)) text += `${name}: ${value}\r\n`;
    if (body !== undefined) text += `Content-Length: ${body.length}\r\n`;
    await this.raw(`${text}\r\n${body ?? ''}`, method);
  }

  /** Sends bytes and reads one response. */
  async raw(bytes: string, method = 'GET'): Promise<void> {
    await this.rawMany(bytes, 1, method);
  }

  async rawMany(bytes: string, responses: number, method = 'GET'): Promise<void> {
    const connection = await this.#open();
    connection.send(bytes);
    for (let i = 0; i < responses; i++) this.#note(await connection.response(method));
    // A client may have its response before the fetch has ended; the next request is to meet a whole object.
    await this.#settle();
  }

  /** Sends bytes and waits for nothing. */
  async send(bytes: string): Promise<void> {
    (await this.#open()).send(bytes);
  }

  /** Reads one response to what was sent. */
  async receive(method = 'GET'): Promise<void> {
    this.#note(await (await this.#open()).response(method));
  }

  /** Notes everything that comes until the peer ends. */
  async rest(): Promise<void> {
    const bytes = (await this.#connection?.rest()) ?? Buffer.alloc(0);
    this.lines.push(`rest ${normaliseText(bytes.toString('latin1'), this.#ids)}`);
  }

  /** Closes this side of the connection; the other stays open. */
  finish(): void {
    this.#connection?.finish();
  }

  /** The client goes away at once. */
  leave(): void {
    this.#connection?.close();
    this.#connection = null;
  }

  /** Waits until the origin has received `n` requests for a URL. */
  asked(url: string, n: number): Promise<unknown> {
    return until(`${n} requests for ${url}`, () => this.#origin.seen(url).length >= n);
  }

  /** A request that should be refused: whatever comes until the peer closes, at most one response. */
  async bad(bytes: string): Promise<void> {
    const connection = await this.#open();
    connection.send(bytes);
    const response = await connection.response().catch(() => null);
    if (response === null) this.lines.push('no response');
    else this.#note(response);
    connection.finish();
    await this.expectClose();
  }

  async expectClose(): Promise<void> {
    const closed = (await this.#connection?.closedByPeer()) ?? false;
    this.lines.push(closed ? 'closed' : 'closed after surplus bytes');
  }

  sleep(ms: number): Promise<void> {
    return delay(ms);
  }

  /** Waits until the origin has seen `n` requests for a URL. */
  async fetched(url: string, n: number): Promise<void> {
    await until(`${n} fetches of ${url}`, () => this.#origin.seen(url).length >= n);
    // The response has yet to travel and be stored.
    await delay(150);
  }

  noteUpload(url: string): void {
    for (const r of this.#origin.seen(url)) this.lines.push(`upload ${describe(r.body)}`);
  }

  /** Ends the connections and waits until the product has ended them too. */
  async end(): Promise<void> {
    this.#connection?.close();
    for (const connection of this.#clients.values()) connection?.close();
    await delay(5);
  }
}

function isOwnPage(body: Buffer): boolean {
  return body.toString('latin1', 0, 15) === '<!DOCTYPE html>';
}

/** Log lines of a case, with the lengths of the product's own pages hidden. */
export function hidePages(lines: string[], pages: ReadonlySet<string>): string[] {
  return lines.map((line) => {
    // A page that was not delivered, such as that of a background fetch.
    if (/^-+ Length 2[5-9]\d$/.test(line)) return line.replace(/\d+$/, 'PAGE');
    if (!/(?:Content-Length:|Acct|Length) /.test(line)) return line;
    return line.replace(/(?<=^-+ \S+ (?:Content-Length: |.*\bH )?)\d+(?= H$|$)/, (n) =>
      pages.has(n) ? 'PAGE' : n,
    );
  });
}

function describe(body: Buffer): string {
  if (isOwnPage(body)) return 'HTML page';
  // Two packers pack the same text differently.
  if (body.length > 2 && body.readUInt16BE(0) === 0x1f8b) return `gzip of ${describe(gunzipSync(body))}`;
  const text = body.toString('latin1');
  return body.length > 200
    ? `${body.length} bytes, sha1 ${createHash('sha1').update(body).digest('hex')}`
    : JSON.stringify(text);
}

export function originRequests(origin: Origin, from: number, ids: IdNames): string[] {
  return origin.requests.slice(from).map((r) => {
    const head = normaliseText(r.head.trimEnd().replaceAll('\r\n', '\n'), ids).replaceAll('\n', ' | ');
    return `${head}${r.body.length > 0 ? ` + ${describe(r.body)}` : ''}${r.complete ? '' : ' INCOMPLETE'}`;
  });
}

/** Connects as a client of the protocol. */
export function openPlayed(port: number, protocol?: 'HTTP/2'): Promise<PlayedConnection> {
  return protocol === undefined ? ClientConnection.open(port) : RequestsOverHttp2.open(port);
}

function paramsOf({ params = {}, protocol }: Suite): Record<string, string> {
  if (protocol === undefined) return params;
  return {
    ...params,
    feature: ['+http2', ...(params.feature === undefined ? [] : [params.feature])].join(','),
  };
}

/** How many frames a session of HTTP/2 had, and how long the control frames were, is each product's own affair. */
export function hideFrames(lines: readonly string[]): string[] {
  return lines.map((line) => line.replace(/^- ReqAcct .*/, '- ReqAcct FRAMES'));
}

/** Everything that the answers to a suite hang on, by case name. */
export function suiteInputs({
  cases,
  program,
  params,
  storage,
  protocol,
}: Suite): Promise<Map<string, string>> {
  const text = readFileSync(new URL(program, import.meta.url), 'utf8');
  return caseInputs(
    JSON.stringify([text, params ?? {}, storage ?? [], ...(protocol === undefined ? [] : [protocol])]),
    cases,
  );
}

/** Plays all cases and returns what was seen, by case name. */
export async function playCases(
  box: Sandbox,
  product: Product,
  suite: Suite,
  times = new CaseTimes(),
): Promise<Map<string, Seen>> {
  const origin = await Origin.start();
  const program = readFileSync(new URL(suite.program, import.meta.url), 'utf8')
    .replaceAll('@ORIGIN@', String(origin.port))
    .replaceAll('@DEAD@', String(await freePort()));
  const dir = mkdtempSync(`${box.dir}/${product}-`);
  const proxy = await startProxy(box, {
    product,
    program,
    dir,
    params: paramsOf(suite),
    ...(suite.storage === undefined ? {} : { storage: suite.storage }),
  });
  try {
    const { counted = () => false } = suite;
    const first = suite.cases.filter((c) => counted(c));
    const rest = suite.cases.filter((c) => !counted(c));
    const played: { test: Case; player: Player; seen: Seen; ids: IdNames }[] = [];
    for (const [i, test] of [...first, ...rest].entries()) {
      if (i === first.length && i > 0) suite.onCounters?.(product, await countersAtRest(proxy));
      const ids = new IdNames();
      const player = new Player(origin, proxy.port, ids, suite.protocol);
      const seen: Seen = { client: player.lines, origin: [], log: [], failure: null };
      const before = origin.requests.length;
      test.script?.(origin);
      const end = times.start(test.name);
      try {
        await test.play(player);
      } catch (error) {
        seen.failure = error instanceof Error ? error.message : String(error);
      }
      end();
      await player.end();
      // So that no case meets a connection of the case before: the pool is emptied.
      await origin.endIdle();
      seen.origin = originRequests(origin, before, ids);
      played.push({ test, player, seen, ids });
    }
    let groups: Awaited<ReturnType<typeof completeLog>>;
    try {
      groups = await completeLog(
        proxy,
        played.flatMap((p) => p.player.ports),
      );
    } catch (error) {
      for (const p of played) p.seen.log = [`the log tool failed: ${error}`];
      return new Map(played.map((p) => [p.test.name, p.seen]));
    }
    for (const p of played) {
      // Of each case, even if it does not count: a later one may have the port of its connection.
      const sessions = p.player.ports.map((port) => groups.get(port)?.shift());
      if (p.seen.failure?.startsWith(ONLY_HTTP1)) {
        Object.assign(p.seen, { client: [], origin: [], log: [] });
        continue;
      }
      p.seen.log = sessions.flatMap((group) => {
        if (group === undefined) return ['no session in the log for this connection'];
        const lines = hidePages(hideFrames(normaliseGroup(group, p.ids)), p.player.pages);
        return p.player.cut ? lines.map((l) => l.replace(/(ReqAcct .* H )\d+ H$/, '$1CUT H')) : lines;
      });
    }
    return new Map(played.map((p) => [p.test.name, p.seen]));
  } finally {
    if (proxy.daemon.running) await proxy.stop().catch(() => {});
    await origin.close();
  }
}

/** The transactions in the order in which they were linked: ids say little, as each thread may have its own range. */
function inLinkOrder(group: Transaction[]): Transaction[] {
  const byId = new Map(group.map((t) => [String(t.id), t]));
  const ordered = new Set<Transaction>();
  const walk = (t: Transaction): void => {
    if (ordered.has(t)) return;
    ordered.add(t);
    for (const { tag, data } of t.records) {
      const next = tag === 'Link' ? byId.get(data.split(' ')[1] ?? '') : undefined;
      if (next !== undefined) walk(next);
    }
  };
  for (const t of group) walk(t);
  return [...ordered];
}

/** The session groups of these client ports, once all are complete (or the last state after 20 s). */
export async function completeLog(proxy: RunningProxy, ports: readonly number[]) {
  // A port may come again: its sessions are in the order in which they were opened.
  const byPort = new Map<number, Transaction[][]>();
  const end = performance.now() + 20_000;
  for (;;) {
    byPort.clear();
    let open = 0;
    let complete = 0;
    for (const group of parseGroups(await proxy.log('-g', 'session'))) {
      const port = clientPort(group);
      if (port === null || !ports.includes(port)) continue;
      byPort.set(port, [...(byPort.get(port) ?? []), inLinkOrder(group)]);
      complete++;
      if (isFlushed(group)) open++;
    }
    if ((complete >= ports.length && open === 0) || performance.now() > end) return byPort;
    await delay(200);
  }
}
