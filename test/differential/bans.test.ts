// The same objects, bans and purges on Varnish's daemon and on proxyd: lists, errors, counters and what remains
// must be the same. Times and the forms of our own additions are not compared.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { type Product, type RunningProxy, startProxy } from '../harness/proxy.ts';
import { type Answers, inputsOf, type Reference, recording } from './recording.ts';

const recorded = recording('bans');

/** Representation of the list in memory, and ours alone. */
const NOT_COMPARED = /persisted|contention|soft/;

const EXPRESSIONS = [
  '',
  'a',
  'a b c',
  'obj.foo == b',
  'obj.http.a = b',
  'obj.http.a ~ (',
  'obj.ttl > 5',
  'obj.ttl ~ 5s',
  'obj.ttl > 5s',
  'obj.ttl == 1.5h',
  'obj.keep <= 90s',
  'obj.grace != 10ms',
  'obj.age < 1d',
  'obj.status == 200 & obj.status == 3',
  'obj.status == 200 &&',
  'obj.status == 200 && a',
  'req.http.host == a && obj.age > 1h',
  'obj.status >= 200',
  'obj.status == 200 x',
  'obj.http. == a',
  'req.http == a',
  'obj.http.a == "b',
  'obj.http.ETag == "b"',
  'req.url !~ ^/x',
];

interface Seen {
  lists: string[];
  counters: Record<string, number>[];
  errors: string[];
  answers: string[];
}

const program = (port: number): string => `vcl 4.1;
import std;
import purge;
backend default { .host = "127.0.0.1"; .port = "${port}"; }
sub vcl_recv {
  if (req.method == "BAN") {
    if (std.ban(req.http.x-ban)) { return (synth(200, "ok")); }
    return (synth(400, std.ban_error()));
  }
  if (req.method == "CALL") { ban(req.http.x-ban); return (synth(200)); }
  if (req.method == "DROP") { return (purge); }
  if (req.method ~ "^(HARD|SOFT|EMPTY)$") { return (hash); }
  if (req.http.x-refresh && req.restarts == 0) { return (purge); }
  return (hash);
}
sub vcl_purge { if (req.http.x-refresh) { return (restart); } }
sub do_purge {
  if (req.method == "HARD") { set req.http.n = purge.hard(); return (synth(200, req.http.n)); }
  if (req.method == "SOFT") { set req.http.n = purge.soft(0s, 20s, 0s); return (synth(200, req.http.n)); }
  if (req.method == "EMPTY") { set req.http.n = purge.soft(0s, 0s, 0s); return (synth(200, req.http.n)); }
}
sub vcl_hit { call do_purge; }
sub vcl_miss { call do_purge; }
sub vcl_backend_response { set beresp.ttl = 100s; set beresp.grace = 50s; set beresp.keep = 30s; }
sub vcl_deliver { set resp.http.x-hits = obj.hits; set resp.http.x-grace = obj.grace; }
`;

type Part = Seen[keyof Seen];

async function play(box: Sandbox, product: Product): Promise<Answers<Part>> {
  const origin = await Origin.start();
  origin.on('*', (request, n) => {
    const fields: Record<string, string> = { 'X-Url': request.url };
    if (request.url.startsWith('/vary')) fields.Vary = 'X-Variant';
    return respond('200 OK', fields, `${request.url} ${n}`);
  });
  const seen: Seen = { lists: [], counters: [], errors: [], answers: [] };
  let proxy: RunningProxy | null = null;
  try {
    proxy = await startProxy(box, {
      product,
      program: program(origin.port),
      dir: box.path(`bans-${product}`),
      params: { ban_lurker_age: '600', ban_lurker_sleep: '0.01' },
    });
    await script(proxy, seen);
  } finally {
    await proxy?.stop().catch(() => {});
    await origin.close();
  }
  return new Map<string, Part>(Object.entries(seen));
}

async function script(proxy: RunningProxy, seen: Seen): Promise<void> {
  const ask = async (method: string, path: string, fields: Record<string, string> = {}): Promise<void> => {
    const answer = await proxy.get(path, { method, fields });
    const text = answer.status === 200 && method !== 'GET' ? answer.reason : answer.body.toString();
    const grace = field(answer, 'x-grace');
    seen.answers.push(
      `${method} ${path}: ${answer.status} ${method === 'GET' ? text : answer.reason} ${grace}`,
    );
  };
  const bans = async (): Promise<Record<string, number>> => {
    const all = await proxy.counters();
    const names = Object.keys(all).filter((n) => /^MAIN\.(bans|n_purges|n_obj_purged)/.test(n));
    return Object.fromEntries(names.filter((n) => !NOT_COMPARED.test(n)).map((n) => [n, all[n] as number]));
  };
  const look = async (added: number): Promise<void> => {
    await proxy.counterReaches('MAIN.bans_added', added);
    seen.counters.push(await bans());
    seen.lists.push((await proxy.adm('ban.list')).stdout.replace(/^\d+\.\d+/gm, 'TIME'));
    seen.lists.push((await proxy.adm('ban.list', '-j')).stdout.replace(/\d{9,}\.\d+/g, 'TIME'));
  };
  const ended = async (): Promise<number> => {
    const fetched = await proxy.log('-g', 'vxid', '-b', '-i', 'BereqURL');
    return fetched.split('\n').filter((line) => line.includes('BereqURL')).length;
  };
  const ban = (text: string) => proxy.adm('ban', ...text.split(' '));

  for (const url of ['/a', '/b', '/c', '/d']) await ask('GET', url);
  await look(1);
  await ban('obj.http.x-url == /a');
  await ban('req.url == /b');
  await ban('obj.http.x-url ~ ^/nothing$');
  await ban('obj.http.x-url == /a');
  await look(5);
  for (const url of ['/a', '/b']) await ask('GET', url);
  await until('the counters', async () => (await bans())['MAIN.bans_obj_killed'] === 2);
  await look(5);
  await proxy.adm('param.set', 'ban_lurker_age', '0');
  await ban('obj.http.x-url == /c');
  await proxy.counterReaches('MAIN.bans_lurker_obj_killed', 1);
  for (const url of ['/a', '/b', '/c', '/d']) await ask('GET', url);
  await until('a short list', async () => (await bans())['MAIN.bans'] === 1);
  await proxy.adm('param.set', 'ban_lurker_age', '600');

  // A stale object is refreshed in the background, and the next response depends on whether that has ended.
  const fetches: Record<string, number> = { HARD: 4, SOFT: 3, EMPTY: 3, DROP: 3 };
  for (const method of ['HARD', 'SOFT', 'EMPTY', 'DROP']) {
    const before = (await proxy.counters())['MAIN.fetch_length'] as number;
    await ask('GET', '/p');
    await ask(method, '/p');
    await ask(method, '/p');
    await ask('GET', '/p');
    await ask('GET', '/vary', { 'X-Variant': '1' });
    await ask('GET', '/vary', { 'X-Variant': '2' });
    // A fetch is logged when it has ended and its object is in place; the counter moves before that.
    const expected = before + (fetches[method] as number);
    await until(`${expected} fetches have ended`, async () => (await ended()) >= expected);
    await ask(method, '/vary', { 'X-Variant': '3' });
  }
  await ask('GET', '/p', { 'x-refresh': '1' });
  await ask('GET', '/p');
  for (const text of EXPRESSIONS) {
    const cli = text === '' ? await proxy.adm('ban') : await ban(text);
    seen.errors.push(`CLI ${text}: ${cli.code} ${cli.stdout.trim()} ${cli.stderr.trim()}`);
    const vcl = await proxy.get('/', { method: 'BAN', fields: text === '' ? {} : { 'x-ban': text } });
    seen.errors.push(`VCL ${text}: ${vcl.status} ${vcl.reason}`);
  }
  await proxy.get('/', { method: 'CALL' });
  const logged = async (): Promise<string[]> => {
    const call = await proxy.log('-g', 'request', '-q', 'ReqMethod eq "CALL"', '-i', 'VCL_Error');
    const lines = call.split('\n');
    return lines.flatMap((line) => /VCL_Error.*/.exec(line) ?? []);
  };
  await until('what ban() refuses is in the log', async () => (await logged()).length === 1);
  seen.errors.push(...(await logged()));
  seen.lists.push((await proxy.adm('ban.list')).stdout.replace(/^\d+\.\d+/gm, 'TIME'));
}

describe('bans and purges beside Varnish’s daemon', () => {
  const box = new Sandbox('proxyd-bans');
  let theirs: Reference<Part>;
  let ours: Answers<Part>;
  beforeAll(async () => {
    const inputs = inputsOf(program(1) + EXPRESSIONS.join('\n'), ['lists', 'counters', 'errors', 'answers']);
    [theirs, ours] = await recorded.both(inputs, (product) => play(box, product));
  });
  afterAll(() => box.dispose());

  it('lists the same bans', () => {
    expect(ours.get('lists')).toEqual(theirs.get('lists'));
  });
  it('counts the same', () => {
    expect(ours.get('counters')).toEqual(theirs.get('counters'));
  });
  it('says the same of wrong expressions', () => {
    expect(ours.get('errors')).toEqual(theirs.get('errors'));
  });
  it('gives clients the same answers', () => {
    expect(ours.get('answers')).toEqual(theirs.get('answers'));
  });
});
