// Actions on the row under the cursor: in each view its subjects are counted, refetched and banned.
import { afterEach, expect, it } from 'vitest';
import type { Recording } from '../../../console/model/session/recording.ts';
import { encodeTransaction } from '../../../console/model/session/recording.ts';
import { banOf, SUBJECTS, type Subject } from '../../../console/model/ui/row-subject.ts';
import { RANK_SUBJECTS } from '../../../console/views/top/rank-subjects.ts';
import { fakeGroup, fakeRecording, record } from '../fake-recording.ts';
import { Stage, type StageOptions } from '../stage.ts';

const PAGE = 'req.http.host == shop.example && req.url == /cart';
const COUNTED = { status: 200, body: '2 of 9 objects match.' };

const recording: Recording = ((): Recording => {
  const base = fakeRecording(20);
  const [request, fetch] = fakeGroup({
    vxid: 90_001,
    at: base.start + 21,
    method: 'GET',
    url: '/sent',
    status: 200,
    handling: 'MISS',
    seconds: 0.1,
    body: 9,
  });
  if (request === undefined || fetch === undefined) throw new Error('a request and a fetch');
  const before = record('c', 90_001, 'ReqURL', '/looked/up?b=1');
  const normal = record('c', 90_001, 'ReqHeader', 'Host: norm.example');
  const hash = Buffer.from(request.records).indexOf(record('c', 90_001, 'VCL_call', 'HASH'));
  const records = Buffer.concat([
    request.records.subarray(0, hash),
    before,
    normal,
    request.records.subarray(hash),
    record('c', 90_001, 'ReqURL', '/later'),
  ]);
  const tags = record('b', 90_002, 'BerespHeader', 'xkey: shoe-1 all');
  const transactions = [
    { ...request, records },
    { ...fetch, records: Buffer.concat([tags, fetch.records]) },
  ];
  return {
    ...base,
    steps: [...base.steps, { after: 21, kind: 'log', transactions: transactions.map(encodeTransaction) }],
    commands: {
      ...base.commands,
      [`ban.count ${PAGE}`]: COUNTED,
      'listen.list -j': {
        status: 200,
        body: JSON.stringify([
          2,
          ['listen.list', '-j'],
          0,
          { name: 'a0', address: '/run/s', port: -1, protocol: 'HTTP' },
          { name: 'a1', address: '127.0.0.1', port: 8443, protocol: 'PROXY' },
          { name: 'a2', address: '127.0.0.1', port: 6081, protocol: 'HTTP' },
        ]),
      },
      [`ban ${PAGE}`]: { status: 200, body: '' },
      'ban.count req.http.host == norm.example && req.url == /looked/up?b=1': COUNTED,
    },
  };
})();

let stage: Stage | null = null;

async function open(columns = 100, rows = 30, more: Partial<StageOptions> = {}): Promise<Stage> {
  stage = new Stage({ recording, columns, rows, ...more });
  await stage.play(20);
  return stage;
}

afterEach(() => {
  stage?.close();
  stage = null;
});

const bans = (s: Stage): string[] => s.source.sent.filter((line) => /^ban(\.count|\.soft)? /.test(line));

it('a URL of Top is purged with its host, after a count and a yes', async () => {
  const s = await open(60, 20);
  await s.keys('9', '/');
  await s.type('/cart');
  await s.keys('enter', 'p');
  await s.settle();
  const screen = await s.screen();
  expect(screen).toMatch(/ban req\.http\.host == shop\.example && req\.url ==\s[\s│]*\/cart/);
  expect(screen).toMatch(/2 of 9 objects match\. Ban them\? y\/n/);
  expect(bans(s)).toEqual([`ban.count ${PAGE}`]);
  await s.keys('y');
  await s.settle();
  expect(bans(s)).toEqual([`ban.count ${PAGE}`, `ban ${PAGE}`]);
});

it('a row of the log is purged as it was looked up, not as it was sent or sent on', async () => {
  const s = await open();
  await s.keys('2');
  await s.play(21);
  await s.keys('p');
  await s.settle();
  expect(bans(s)).toEqual(['ban.count req.http.host == norm.example && req.url == /looked/up?b=1']);
  await s.keys('n', 'x');
  const menu = await s.screen();
  expect(menu).toMatch(/Purge norm\.example\/looked\/up\?b=1 +p/);
  expect(menu).toMatch(/Purge norm\.example\/looked\/up with any query string/);
  expect(menu).toMatch(/Purge all with the tag shoe-1 in xkey/);
  expect(menu).toMatch(/Why was it a miss, a pass, an error\? +w/);
});

it('a row of Top is purged as it was looked up, whatever clients call it, and a rewritten prefix not at all', async () => {
  const s = await open(100, 30);
  await s.keys('2');
  await s.play(21);
  await s.keys('9', '/');
  await s.type('/sent');
  await s.keys('enter', 'p');
  await s.settle();
  expect(bans(s)).toEqual(['ban.count req.http.host == norm.example && req.url == /looked/up?b=1']);
  await s.keys('n', 'enter');
  expect(s.c.session.log.query).toBe('ReqURL eq "/sent"');
  await s.keys('escape', ' ');
  expect(await s.screen()).toContain('The last one was looked up as norm.example/looked/up?b=1.');
  // The refetch uses the request as sent: the program would rewrite its own result again.
  await s.keys('R');
  await s.settle();
  expect(await s.screen()).toMatch(/GET \/sent at 127\.0\.0\.1:6081, Host: shop\.example/);
  expect(await s.screen()).toContain('ban req.http.host == norm.example && req.url == /looked/up?b=1');
  await s.keys('n', 't', 'p');
  await s.settle();
  expect(bans(s).at(-1)).toBe('ban.count req.http.host == norm.example && req.url ~ ^/looked/up([?#]|$)');
  // Of a host and path the newest URL is fetched again, and that alone is banned for it.
  await s.keys('n', 'x');
  expect(await s.screen()).toMatch(/Refetch shop\.example\/sent, before and after +R/);
  await s.keys('escape', 'R');
  await s.settle();
  expect(await s.screen()).toMatch(/GET \/sent at 127\.0\.0\.1:6081, Host: shop\.example/);
  expect(await s.screen()).toContain('ban req.http.host == norm.example && req.url == /looked/up?b=1');
  await s.keys('n');
  const prefix = (key: string, lookupUrl: string) =>
    RANK_SUBJECTS.prefix({ key, url: key, host: 'h', lookupUrl, lookupHost: 'h' }).map(({ kind }) => kind);
  expect(prefix('/img/', '/img/a')).toEqual(['prefix']);
  expect(prefix('/img/', '/cdn/img/a')).toEqual(['rewritten']);
});

it('what is wider can be chosen, and the condition changed before it is counted', async () => {
  const s = await open();
  await s.keys('9', 'b');
  expect(s.c.ui.state.field?.line.text).toMatch(/^req\.http\.host == shop\.example && req\.url == \//);
  await s.keys('escape', 'x', 'down', 'enter');
  await s.settle();
  expect(bans(s)).toEqual([expect.stringMatching(/^ban\.count req\.url == \/\S*$/)]);
});

it('a tag, a cause of misses and a status stand for what they are, a client for nothing in the cache', async () => {
  const s = await open();
  await s.play(21);
  await s.keys('7', '/');
  await s.type('shoe-1');
  await s.keys('enter', 'p');
  await s.settle();
  expect(bans(s).at(-1)).toBe('ban.count obj.http.xkey ~ "(^|[\\\\s,])shoe-1($|[\\\\s,])"');
  await s.keys('n', '#', 'p');
  await s.settle();
  expect(bans(s).at(-1)).toMatch(/^ban\.count req\.http\.host == shop\.example && req\.url == \//);
  const sent = bans(s).length;
  await s.keys('n', '9', 't', 't', 't', 't', 'p');
  expect(await s.screen()).toContain('the client 127.0.0.1: cannot purge by client');
  await s.keys('t', 't', 't', 'p');
  await s.settle();
  expect(bans(s)).toHaveLength(sent + 1);
  expect(bans(s).at(-1)).toMatch(/^ban\.count obj\.status == \d+$/);
});

it('a URL is fetched again after a yes to what is sent: asked for, banned, asked for', async () => {
  const asked: string[] = [];
  const askForPage: NonNullable<StageOptions['askForPage']> = async ({ port }, { host, url }) => {
    asked.push(`${port} ${host}${url} after ${bans(s).length} lines`);
    const sha256 = String(asked.length).repeat(64);
    return { status: 200, headers: [['X-Cache', 'HIT']], bytes: 5, sha256, seconds: 0.1 };
  };
  const s = await open(100, 30, { askForPage });
  await s.keys('9', '/');
  await s.type('/cart');
  await s.keys('enter', 'R');
  await s.settle();
  expect(await s.screen()).toMatch(
    /GET \/cart at 127\.0\.0\.1:6081, Host: shop\.example, User-Agent: proxyadm/,
  );
  expect(asked).toEqual([]);
  await s.keys('y');
  for (let n = 0; n < 400 && s.c.ui.state.panel === null; n++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    await s.settle();
  }
  expect(asked).toEqual(['6081 shop.example/cart after 1 lines', '6081 shop.example/cart after 2 lines']);
  expect(await s.screen()).toMatch(/Changed: the body\.[\s\S]*sha256 +1{16} +2{16}/);
});

it('the table says of each kind what is banned, or why nothing is', () => {
  const subject = (kind: Subject['kind'], key: string, of = ''): string => banOf({ kind, key, of });
  expect(subject('url', '/a b"', 'h')).toBe('req.http.host == h && req.url == "/a b\\""');
  expect(subject('path', '/a.b', 'h')).toBe('req.http.host == h && req.url ~ "^/a\\\\.b([?#]|$)"');
  expect(subject('prefix', '/img/')).toBe('req.url ~ ^/img/');
  expect(subject('prefix', '/')).toBe('req.url ~ ^/[^/]*([?#]|$)');
  expect(subject('host', 'h')).toBe('req.http.host == h');
  for (const row of Object.values(SUBJECTS)) expect(row.ban === null).toBe(row.without !== '');
});

it('offers nothing that is refused: without a row, and where nothing may be changed', async () => {
  const s = await open(120, 30, { readonly: true });
  const offered = async (key: string): Promise<string[]> => {
    await s.keys('escape', key);
    // Rows come with the daemon's answer.
    await s.settle();
    await s.keys('x');
    const { panel } = s.c.ui.state;
    return panel?.kind === 'choices' ? panel.choices.map((choice) => choice.label) : [];
  };
  expect(await offered('4')).toEqual(['Open the selected row']);
  expect(await offered('9')).toEqual(['Open the selected row']);
  await s.keys('escape');
  const footer = async (): Promise<string> => (await s.screen()).split('\n').at(-1) ?? '';
  expect(await footer()).not.toMatch(/ (p purge|b ban|R refetch) /);
  await s.keys('4');
  expect(await footer()).not.toMatch(/ (s sick|h healthy|a auto) /);
  // No edge network, no row.
  expect(await offered('@')).toEqual([]);
  await s.settle();
  expect(await footer()).toContain('nothing is selected');
  await s.keys('a');
  expect(await footer()).toContain('there are no dead letters');
});
