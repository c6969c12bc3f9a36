// Backends and probes beside Varnish's daemon: the same program before origins that answer oddly, not at all, or
// only after a PROXY preamble. What clients get, what origins are sent, the log of fetches and polls, backend.list
// and the counters must be the same, after ports, descriptors, times and the products' names are replaced.
import { createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../harness/origin.ts';
import { delay, Sandbox, until } from '../harness/processes.ts';
import { type Product, type RunningProxy, startProxy } from '../harness/proxy.ts';
import { countersAtRest } from './at-rest.ts';
import { type Answers, inputsOf, type Reference, recording } from './recording.ts';

const answered = recording('backends');

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

/** The origin's behaviour after a complete head, or at once. */
type Manner = (socket: Socket, received: string, connection: number) => void;

const answering =
  (text: string): Manner =>
  (socket, received) => {
    if (received.endsWith('\r\n\r\n')) socket.end(Buffer.from(text, 'latin1'));
  };

/** Requests of `slow` that are still to be answered. */
const slowAnswers: (() => void)[] = [];

const MANNERS: Record<string, Manner> = {
  good: answering(OK),
  keep: (socket, received) => {
    if (received.endsWith('\r\n\r\n')) socket.write(OK);
  },
  once: (socket, received) => {
    if (received.split('\r\n\r\n').length === 2) socket.write(OK);
    else socket.destroy();
  },
  slow: (socket, received) => {
    if (received.endsWith('\r\n\r\n')) slowAnswers.push(() => socket.write(OK));
  },
  hang: () => undefined,
  busy: answering('HTTP/1.1 503 Busy\r\n\r\n'),
  short: answering('HTTP/1.1 200\r\n\r\n'),
  garbage: answering('garbage here\r\nfoo\r\n'),
  empty: (socket, received) => {
    if (received.endsWith('\r\n\r\n')) socket.end();
  },
  reset: (socket) => socket.resetAndDestroy(),
};

class Origins {
  readonly ports: Record<string, number> = {};
  readonly received: Record<string, string[]> = {};
  private readonly servers: Server[] = [];
  private readonly sockets: Socket[] = [];

  async start(): Promise<this> {
    for (const [name, manner] of Object.entries(MANNERS)) await this.listen(name, manner);
    for (const name of ['proxied', 'greeted']) await this.listen(name, MANNERS.keep as Manner);
    return this;
  }

  private async listen(name: string, manner: Manner): Promise<void> {
    const received: string[] = [];
    this.received[name] = received;
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      const n = received.push('') - 1;
      this.sockets.push(socket);
      socket.on('error', () => {});
      socket.on('end', () => socket.end());
      socket.on('data', (bytes) => {
        received[n] += bytes.toString('latin1');
        manner(socket, received[n] as string, n);
      });
    });
    this.servers.push(server);
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const address = server.address();
    this.ports[name] = address === null || typeof address === 'string' ? 0 : address.port;
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
    for (const server of this.servers) server.close();
  }
}

const POLL = '.interval = 100s; .timeout = 1.5s;';

/** Backends of the program: the origin they name and what else they declare. */
const BACKENDS: Record<string, [origin: string, fields: string]> = {
  plain: ['keep', ''],
  one: ['proxied', '.proxy_header = 1;'],
  two: ['proxied', '.proxy_header = 2;'],
  pre: ['greeted', '.preamble = :SGVsbG8=:;'],
  once: ['once', ''],
  piped: ['greeted', ''],
  gone: ['dead', ''],
  gone2: ['dead', ''],
  full: ['slow', '.max_connections = 1;'],
  late: ['hang', '.first_byte_timeout = 0.3s;'],
  probed: ['good', `.probe = { ${POLL} }`],
  quick: ['good', `.probe = { ${POLL} .initial = 3; .url = "/quick"; }`],
  slowly: ['good', `.probe = { ${POLL} .initial = 0; .window = 10; .threshold = 2; }`],
  wide: ['good', `.probe = { ${POLL} .threshold = 64; }`],
  asking: ['good', `.probe = { ${POLL} .request = "GET /ask HTTP/1.1" "Host: me" "Connection: close"; }`],
  named: ['good', `.host_header = "named.test"; .probe = { ${POLL} }`],
  leading: ['good', `.proxy_header = 2; .preamble = :SGVsbG8=:; .probe = { ${POLL} .url = "/lead"; }`],
  wanted: ['busy', `.probe = { ${POLL} .expected_response = 503; }`],
  refusing: ['dead2', `.probe = { ${POLL} }`],
  ...Object.fromEntries(
    ['hang', 'keep', 'busy', 'short', 'garbage', 'empty', 'reset'].map((name) => [
      `p_${name}`,
      [name, `.probe = { ${POLL} }`] as [string, string],
    ]),
  ),
};

async function programText(origins: Origins): Promise<string> {
  const dead: Record<string, number> = { dead: await freePort(), dead2: await freePort() };
  const at = (name: string): number => origins.ports[name] ?? (dead[name] as number);
  const backends = Object.entries(BACKENDS).map(
    ([name, [origin, fields]]) =>
      `backend ${name} { .host = "127.0.0.1"; .port = "${at(origin)}"; ${fields} }`,
  );
  const choices = Object.keys(BACKENDS).map(
    (name) => `if (req.url == "/${name}") { set req.backend_hint = ${name}; }`,
  );
  return `vcl 4.1;
import std;
${backends.join('\n')}
backend nobody none;
sub vcl_recv {
  unset req.http.x-forwarded-for;
  ${choices.join('\n  ')}
  if (req.url == "/nobody") { set req.backend_hint = nobody; }
  if (req.http.bare) { unset req.http.host; }
  if (req.http.pipe) { return (pipe); }
  return (pass);
}
sub vcl_pipe { unset bereq.http.x-varnish; unset bereq.http.x-proxy-id; }
sub vcl_backend_fetch { unset bereq.http.x-varnish; unset bereq.http.x-proxy-id; }
sub vcl_backend_response {
  set beresp.http.who = beresp.backend + " " + beresp.backend.name + " " + std.healthy(beresp.backend);
}
sub vcl_backend_error { set beresp.http.who = "error"; }
`;
}

/** Names of requests to origins. */
const sentTo = (origin: string): string => `sent to ${origin}`;
const SENT = [...Object.keys(MANNERS), 'proxied', 'greeted'];
const PARTS = ['answers', 'fetches', 'polls', 'lists', 'counters', ...SENT.map(sentTo)];

type Part = string[] | Record<string, number>;

/** Without the ports of the client and of the listener, in an order that hangs on no luck. */
function shown(sent: readonly string[]): string[] {
  return sent
    .map((bytes) =>
      bytes
        .replace(/(PROXY TCP4 \S+ \S+) \d+ \d+/g, '$1 P P')
        .replace(/(QUIT\n!\x11\x00\x0c.{8}).{4}/gs, '$1PORT'),
    )
    .sort();
}

async function play(box: Sandbox, product: Product): Promise<Answers<Part>> {
  const origins = await new Origins().start();
  const params: Record<string, string> = { backend_remote_error_holddown: '4' };
  // Each thread keeps connections of its own.
  if (product === 'proxyd') params.worker_threads = '1';
  const proxy = await startProxy(box, { product, program: await programText(origins), params });
  try {
    // One poll of each probe, the slowest to its timeout.
    const probes = Object.values(BACKENDS).filter(([, fields]) => fields.includes('.probe')).length;
    await until('every probe has polled', async () => (await polls(proxy)).length === 3 * probes);
    const lists: string[] = [];
    await list(proxy, lists, [
      '',
      '-p',
      '-j',
      '-j -p',
      'p_*',
      'boot.one',
      'other.*',
      '-p -j',
      '-jp two',
      '-q',
      'a b',
      'a b c',
    ]);
    const answers: string[] = [];
    const get = (name: string, extra: Record<string, string> = {}, method = 'GET') =>
      ask(proxy, answers, name, extra, method);
    for (const name of [
      'plain',
      'plain',
      'one',
      'one',
      'two',
      'pre',
      'pre',
      'gone',
      'gone',
      'gone2',
      'late',
    ]) {
      await get(name);
    }
    await delay(4000);
    for (const name of ['gone', 'nobody', 'once', 'once', 'p_hang', 'probed', 'p_busy']) await get(name);
    // The second comes while the first is under way, and pipes count as well.
    const first = get('full');
    await until('the first is under way', () => slowAnswers.length > 0);
    await get('full');
    for (const answer of slowAnswers.splice(0)) answer();
    await first;
    await get('piped', { pipe: '1' });
    await get('piped', { pipe: '1', connection: 'x-foo' });
    // If the program unsets Host, the backend's host is used.
    for (const name of ['named', 'plain']) await get(name, { bare: '1' });
    const words = ['sick', 'nonsense', 'healthy', 'AUTO'];
    for (const word of words) {
      lists.push((await proxy.adm('backend.set_health', 'plain', word)).stdout);
      await list(proxy, lists, ['plain', '-j plain']);
      await get('plain');
    }
    lists.push((await proxy.adm('backend.set_health', 'p_*', 'healthy')).stdout);
    await list(proxy, lists, ['p_*', '-j -p p_busy']);
    await get('p_busy');
    lists.push((await proxy.adm('backend.set_health', 'other.*', 'sick')).stdout);
    await proxy.requestsLogged(answers.length);
    return new Map<string, Part>([
      ['answers', answers],
      ['fetches', await fetches(proxy)],
      ['polls', await polls(proxy)],
      ['lists', lists],
      ['counters', await counters(proxy)],
      ...SENT.map((name) => [sentTo(name), shown(origins.received[name] ?? [])] as const),
    ]);
  } finally {
    await proxy.stop().catch(() => {});
    origins.close();
  }
}

async function ask(
  proxy: RunningProxy,
  answers: string[],
  name: string,
  fields: Record<string, string>,
  method: string,
): Promise<void> {
  const got = await proxy.get(`/${name}`, { fields, method });
  const who = got.fields.find(([n]) => n.toLowerCase() === 'who')?.[1] ?? '';
  answers.push(`${name} ${got.status} ${got.reason} ${who}`);
  // The client has its answer before the origin's connection is kept.
  await delay(80);
}

async function list(proxy: RunningProxy, into: string[], commands: string[]): Promise<void> {
  for (const command of commands) {
    const done = await proxy.adm('backend.list', ...command.split(' ').filter((w) => w !== ''));
    into.push(
      `backend.list ${command}: ${done.code}\n${done.stdout}${done.stderr}`
        .replace(/\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT/g, 'DATE')
        .replace(/good probes: \d\.\d{6}/g, 'good probes: TIME')
        .replace(/\d{10}\.\d{3}/g, 'TIME'),
    );
  }
}

/** Backend_health records, each without its times, sorted: polls run at the same time. */
async function polls(proxy: RunningProxy): Promise<string[]> {
  const text = await proxy.log('-g', 'raw', '-i', 'Backend_health');
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => line.replace(/ \d\.\d{6} \d\.\d{6} /, ' ')).sort();
}

/** The records of connections, by backend, in their order. */
async function fetches(proxy: RunningProxy): Promise<string[]> {
  const tags = 'BackendOpen,BackendClose,FetchError,BereqAcct,PipeAcct,BereqURL,BereqUnset';
  const text = await proxy.log('-g', 'vxid', '-i', tags);
  const groups = text.split(/\n\n/).map((group) =>
    group
      .split('\n')
      .flatMap((line) => /^- +(\w+) +(.*)$/.exec(line)?.slice(1).join(' ') ?? [])
      .filter((line) => !/^BereqUnset X-(Varnish|Proxy-Id):/.test(line))
      .map((line) => line.replace(/^(Backend\w+) \d+ /, '$1 FD '))
      .map((line) => line.replace(/127\.0\.0\.1 \d+/g, '127.0.0.1 PORT')),
  );
  // Which of two that overlap comes first in the log is a matter of when they end.
  return groups
    .filter((group) => group.some((line) => line.startsWith('BereqURL')))
    .map((group) => group.join(' | '))
    .sort();
}

async function counters(proxy: RunningProxy): Promise<Record<string, number>> {
  const all = Object.entries(await countersAtRest(proxy));
  const main = /^MAIN\.(backend_(unhealthy|busy|fail|reuse|recycle|retry|conn|req)|n_backend|s_pipe)$/;
  const wanted = all.filter(([name]) => name.startsWith('VBE.') || main.test(name));
  // Varnish counts the bytes of a first try again with those of the second.
  return Object.fromEntries(wanted.filter(([name]) => name !== 'VBE.boot.once.bereq_hdrbytes').sort());
}

describe('backends beside Varnish’s daemon', () => {
  const box = new Sandbox('proxyd-diff-backends');
  let reference: Reference<Part>;
  let ours: Answers<Part>;

  beforeAll(async () => {
    const inputs = inputsOf(JSON.stringify(BACKENDS), PARTS);
    [reference, ours] = await answered.both(inputs, (product) => play(box, product));
  });
  afterAll(() => box.dispose());

  it('answers', () => {
    expect(ours.get('answers')).toEqual(reference.get('answers'));
    expect(ours.get('answers')?.length).toBeGreaterThan(20);
  });

  it.each(SENT)('sends the same to the origin %s', (name) => {
    expect(ours.get(sentTo(name))).toEqual(reference.get(sentTo(name)));
  });

  it('logs connections, failures and sizes', () => {
    expect(ours.get('fetches')).toEqual(reference.get('fetches'));
  });

  it('logs polls', () => {
    expect(ours.get('polls')).toEqual(reference.get('polls'));
  });

  it('lists backends and takes the operator’s word', () => {
    expect(ours.get('lists')).toEqual(reference.get('lists'));
  });

  it('counts', () => {
    const theirs = { ...(reference.get('counters') as Record<string, number>) };
    // As in Varnish 9: a backend without a probe is healthy.
    for (const [name, [, fields]] of Object.entries(BACKENDS))
      if (!fields.includes('.probe')) theirs[`VBE.boot.${name}.happy`] = 2 ** 64;
    // Of Varnish 7.1 no backend speaks TLS.
    const own = Object.entries(ours.get('counters') as Record<string, number>);
    expect(Object.fromEntries(own.filter(([name]) => !name.endsWith('.fail_tls')))).toEqual(theirs);
  });
});
