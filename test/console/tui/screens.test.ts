import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { plain } from '../../../console/draw/spans.ts';
import { makeTheme } from '../../../console/draw/theme.ts';
import type { GroupMatcher } from '../../../console/model/log/request-group.ts';
import { summarise } from '../../../console/model/log/transaction.ts';
import type { Recording } from '../../../console/model/session/recording.ts';
import { pasteText } from '../../../console/model/ui/keyboard.ts';
import { submitLine } from '../../../console/model/ui/palette.ts';
import { checkQuery } from '../../../console/model/ui/query-parser.ts';
import { healthStrip } from '../../../console/tui/components/health-strip.tsx';
import { applyQuery } from '../../../console/views/log/log-query.ts';
import { LOG_STATE } from '../../../console/views/log/log-state.ts';
import { fakeGroup, fakeRecording } from '../fake-recording.ts';
import { Stage, type StageOptions } from '../stage.ts';

const RECORDING: Recording = fakeRecording(90);
let stage: Stage | null = null;

async function open(columns: number, rows: number, more: Partial<StageOptions> = {}): Promise<Stage> {
  stage = new Stage({ recording: RECORDING, columns, rows, ...more });
  await stage.settle();
  return stage;
}

beforeAll(() => {
  process.env.TZ = 'UTC';
});

afterEach(() => {
  stage?.close();
  stage = null;
});

/** The whole screen, compared with a file beside this test. */
async function golden(s: Stage, name: string): Promise<void> {
  await expect(await s.screen()).toMatchFileSnapshot(`./golden/${name}.txt`);
}

describe('screens', () => {
  it('dashboard', async () => {
    const s = await open(110, 32);
    await s.play(80);
    await golden(s, 'dashboard-110x32');
  });

  it('dashboard on the smallest terminal, in ASCII', async () => {
    const s = await open(60, 20, { theme: makeTheme('none', true) });
    await s.play(80);
    await golden(s, 'dashboard-60x20-ascii');
    expect(await s.screen()).toMatch(/^[\x20-\x7e\n]+$/);
    // Ink's truncation has an ASCII ellipsis, too.
    s.c.ui.notify('warn', 'more words than there is room for '.repeat(3));
    await s.settle();
    expect((await s.screen()).split('\n').at(-1)).toMatch(/^[\x20-\x7e]+~$/);
  });

  it('dashboard with several threads: each, or those that lag most', async () => {
    const s = await open(110, 32, { recording: fakeRecording(90, 4) });
    await s.play(80);
    await golden(s, 'dashboard-threads-110x32');
    await s.resize(60, 20);
    await golden(s, 'dashboard-threads-60x20');
    // The cursor reaches it like other panels, and it opens their counters.
    await s.keys('right', 'right', 'right', 'right', 'right');
    expect(await s.screen()).toMatch(/^▸ 3 /m);
    await s.keys('enter');
    const rows = (await s.screen()).split('\n').filter((row) => row.startsWith(' THR.'));
    expect(rows.length).toBeGreaterThan(4);
    expect(await s.screen()).not.toMatch(/^ MAIN\./m);
  });

  it('log, folded and unfolded', async () => {
    const s = await open(100, 24);
    await s.keys('2');
    await s.play(40);
    await golden(s, 'log-100x24');
    await s.keys('E', 'enter');
    await golden(s, 'log-unfolded-100x24');
  });

  it('statistics', async () => {
    const s = await open(120, 24);
    await s.play(80);
    await s.keys('3', 'j', 'j');
    await golden(s, 'statistics-120x24');
    await s.resize(66, 20);
    await golden(s, 'statistics-66x20');
  });

  it('help and completion lie over the view', async () => {
    const s = await open(80, 24);
    await s.play(30);
    await s.keys('?');
    await golden(s, 'help-80x24');
    await s.keys('escape', ':');
    await s.type('param.show default');
    await golden(s, 'completion-80x24');
  });

  it('fills every size from the smallest to a wide one', async () => {
    const s = await open(60, 20);
    await s.play(60);
    for (const [columns, rows] of [
      [60, 20],
      [61, 21],
      [79, 24],
      [80, 25],
      [109, 30],
      [110, 40],
      [133, 50],
      [250, 80],
    ] as const) {
      await s.resize(columns, rows);
      for (const view of ['1', '2', '3']) {
        await s.keys(view);
        const lines = (await s.screen()).split('\n');
        expect(lines.length).toBe(rows);
        expect(lines[0], `${columns}x${rows} view ${view}`).toMatch(/ proxyd |1 ?Dash/);
        expect(lines.at(-1), `${columns}x${rows} view ${view}`).toMatch(/quit/);
      }
    }
  });

  it('cuts no word of a panel on the smallest terminal', async () => {
    const s = await open(60, 20);
    await s.play(30);
    const shows = async (pattern: RegExp) => expect(await s.screen()).toMatch(pattern);
    await shows(/images sick +3\.0\/s[\s\S]*shop +healthy +[\d.]+\/s/);
    submitLine(s.c, 'param.show default_ttl');
    await s.settle();
    await shows(/if neither the +│[\s\S]*backend nor the program assigns one\./);
    await s.keys('escape', '?');
    await s.type('/');
    await s.type('transactions for the panel');
    await s.keys('enter');
    await shows(/Open the view or the transactions +│[\s\S]* for the panel +│/);
    await s.keys('escape', '9');
    await shows(/Top {2}by URL, [\d.]+% sampled, \d+ requests since [\d:]+ +\d+ *\n/);
    await s.keys('0');
    await shows(/hits and others +\d+ since [\d:]+, [\d.]+% sampled *\n[\s\S]* p99\.9 *\n/);
    await s.keys('6');
    await s.keys(':');
    await s.type('ban');
    await shows(/Invalidate all objects that match all… /);
  });

  it.each([110, 130, 160, 200, 250])('has a clock at %d columns', async (columns) => {
    const s = await open(columns, 30);
    await s.play(3);
    expect((await s.screen()).split('\n')[0]).toMatch(/ \d\d:\d\d:\d\d$/);
  });

  it('shows a message if the terminal is too small', async () => {
    const s = await open(50, 10);
    expect(await s.screen()).toContain('needs 60 by 20');
  });
});

describe('operation', () => {
  it('runs a command and shows what it answered', async () => {
    const s = await open(100, 24);
    await s.play(5);
    await s.keys(':');
    await s.type('param.show default_t');
    await s.keys('tab', 'enter');
    expect(s.source.sent).toContain('param.show default_ttl');
    expect(await s.screen()).toContain('Value is: 120.000 [seconds] (default)');
    await s.keys('escape');
    expect(await s.screen()).not.toContain('Value is');
    await s.keys(':', 'up');
    expect(await s.screen()).toContain(':param.show default_ttl');
  });

  it('shows a failure with its status', async () => {
    const s = await open(100, 24);
    await s.play(2);
    submitLine(s.c, 'nonsense');
    await s.settle();
    expect(await s.screen()).toContain('nonsense (status 101)');
  });

  it('asks before what cannot be undone', async () => {
    const s = await open(100, 24);
    await s.play(2);
    submitLine(s.c, 'stop');
    await s.settle();
    expect(await s.screen()).toMatch(/Confirm stop( \([\d.]+ requests\/s come in now\))?\? y\/n/);
    await s.keys('n');
    expect(s.source.sent).not.toContain('stop');
    submitLine(s.c, 'stop');
    await s.keys('y');
    expect(s.source.sent).toContain('stop');
  });

  it('changes nothing when read-only', async () => {
    const s = await open(100, 24, { readonly: true });
    await s.play(2);
    submitLine(s.c, 'param.set default_ttl 5');
    await s.settle();
    expect(s.source.sent).not.toContain('param.set default_ttl 5');
    expect(await s.screen()).toContain('read-only: param.set is disabled');
  });

  it('shows where a query is wrong, and applies only a right one', async () => {
    const s = await open(100, 24, {
      checkQuery: (text) =>
        text.includes('!')
          ? {
              ok: false,
              from: text.indexOf('!'),
              to: text.indexOf('!') + 1,
              message: 'Expected an operator',
              expected: ['==', '~'],
            }
          : { ok: true },
    });
    await s.play(2);
    await s.keys('2', '/');
    await s.type('ReqURL ! "a"');
    const lines = (await s.screen()).split('\n');
    expect(lines[2]).toContain('ReqURL ! "a"');
    expect(lines[3]?.indexOf('▲')).toBe(lines[2]?.indexOf('!'));
    expect(lines[3]).toContain('Expected an operator; expected ==, ~');
    await s.keys('enter');
    expect(s.session.log.query).toBe('');
    await s.keys('ctrl+u');
    await s.type('RespStatus == 503');
    await s.keys('enter');
    expect(s.session.log.query).toBe('RespStatus == 503');
  });

  it('offers to look for a text that is no query, and does so on a second Enter', async () => {
    const s = await open(100, 24, { checkQuery });
    await s.keys('2');
    await s.play(20);
    await s.keys('/');
    await s.type('/cart');
    await s.keys('enter');
    expect(await s.screen()).toContain('not a query: press Enter again to search for it as text');
    await s.type('x');
    expect(await s.screen()).not.toContain('Enter again');
    await s.keys('backspace', 'enter', 'enter');
    const { search, selected } = s.c.ui.stateOf(LOG_STATE);
    expect([s.session.log.query, search, s.c.ui.state.field]).toEqual(['', '/cart', null]);
    expect(s.session.log.kept.at(s.session.log.kept.indexOf(selected))?.summary.url).toBe('/cart');
    await s.keys('/');
    await s.type('/nowhere');
    await s.keys('enter', 'enter');
    expect(await s.screen()).toContain('"/nowhere" not found in the records shown');
  });

  it('shows of the rows that are kept those that match the query it names, and forgets none', async () => {
    const hits: GroupMatcher = (query) => (group) =>
      query !== 'hits' || group.some((tx) => summarise(tx).handling === 'hit');
    const s = await open(100, 24, { matcher: hits });
    await s.keys('2');
    await s.play(20);
    expect(await s.screen()).toMatch(/ miss .*\n/);
    await s.keys('/');
    await s.type('hits');
    await s.keys('enter');
    const text = await s.screen();
    expect(text.split('\n')[2]).toContain('hits');
    expect(text).toMatch(/ hit .*\n/);
    expect(text).not.toMatch(/ (miss|pass) .*\n/);
    const { size } = s.session.log.shown;
    expect(text).toContain(` ${size} of ${s.session.log.kept.size} groups kept`);
    applyQuery(s.c, '');
    await s.settle();
    expect(await s.screen()).toMatch(/ miss .*\n/);
  });

  it('shows that the daemon has not accepted the query yet, and that stored rows are being searched', async () => {
    const s = await open(100, 24);
    await s.keys('2');
    await s.play(2);
    s.session.log.kept.add(
      fakeGroup({
        vxid: 9,
        at: 0,
        method: 'GET',
        url: '/',
        status: 200,
        handling: 'HIT',
        seconds: 0,
        body: 1,
      }),
    );
    const taken: (() => void)[] = [];
    const log = s.source.log.bind(s.source);
    s.source.log = (sub, handlers) =>
      log(sub, { ...handlers, ready: () => taken.push(() => handlers.ready?.()) });
    applyQuery(s.c, 'ReqURL');
    await s.settle();
    expect(await s.screen()).toContain('asking the daemon');
    taken[0]?.();
    await s.settle();
    expect(await s.screen()).not.toContain('asking the daemon');
  });

  it('reports once that a tag is never written, and continues', async () => {
    const s = await open(120, 24, { checkQuery });
    await s.play(2);
    await s.keys('2', '/');
    await s.type('Witness');
    await s.keys('enter');
    expect(s.session.log.query).toBe('Witness');
    expect(await s.screen()).toContain('Witness: proxyd never writes this tag');
    s.c.ui.set({ notice: null });
    applyQuery(s.c, 'Witness');
    await s.settle();
    expect(await s.screen()).not.toContain('never writes');
  });

  it('goes back from the log to where one came from, with the query of that place', async () => {
    const s = await open(100, 24);
    await s.play(5);
    submitLine(s.c, 'query RespStatus == 200');
    await s.settle();
    await s.keys('1', 'e');
    expect([s.c.view.name, s.session.log.query]).toEqual(['log', 'RespStatus >= 500']);
    await s.keys('/', 'ctrl+u');
    await s.type('RespStatus == 503');
    await s.keys('enter', 'enter');
    // First what is open, then one step after the other.
    await s.keys('escape');
    expect(s.session.log.query).toBe('RespStatus == 503');
    await s.keys('escape');
    expect([s.c.view.name, s.session.log.query]).toEqual(['log', 'RespStatus >= 500']);
    await s.keys('escape');
    expect([s.c.view.name, s.session.log.query]).toEqual(['dashboard', 'RespStatus == 200']);
    await s.keys('3', '2', 'escape');
    expect(s.c.view.name).toBe('stats');
  });

  it('filters statistics as one types', async () => {
    const s = await open(100, 24);
    await s.play(5);
    await s.keys('3', '/');
    await s.type('cache');
    const text = await s.screen();
    expect(text).toContain('MAIN.cache_hit');
    expect(text).not.toContain('MAIN.client_req');
    await s.keys('escape');
    expect(await s.screen()).toContain('MAIN.client_req');
  });

  it('takes Escape and a quick key for two keys, except where Alt edits', async () => {
    const s = await open(80, 24);
    await s.play(2);
    await s.keys('?', 'alt+:', 'alt+?');
    expect(s.c.ui.state.panel?.kind).toBe('help');
    await s.keys('escape', ':');
    await s.type('vcl.use boot');
    await s.keys('alt+b', 'alt+backspace');
    expect(s.c.ui.state.field?.line.text).toBe('boot');
  });

  it('pastes into fields only', async () => {
    const s = await open(80, 24);
    await s.play(2);
    pasteText(s.c, 'q');
    expect(s.quits).toBe(0);
    await s.keys(':');
    pasteText(s.c, 'ping\n');
    await s.settle();
    expect(await s.screen()).toContain(':ping');
    expect(s.source.sent).not.toContain('ping');
  });

  it('quits on q and on ^C, but not while a field is open', async () => {
    const s = await open(80, 24);
    await s.keys(':', 'q');
    expect(s.quits).toBe(0);
    await s.keys('ctrl+c', 'q', 'ctrl+c');
    expect(s.quits).toBe(2);
  });

  it('reports why there is no daemon when it starts without one', async () => {
    const recording: Recording = {
      ...RECORDING,
      steps: [{ after: 0, kind: 'down', reason: 'connect ENOENT /n/console.sock' }],
    };
    const s = await open(100, 24, { recording });
    await s.play(1);
    const text = await s.screen();
    expect(text).toContain('▲ no daemon');
    expect(text).toMatch(/no daemon, retrying in \d s: connect ENOENT \/n\/console\.sock/);
  });

  it('shows nothing before the first answer, and the time of the next attempt, however long the reason', async () => {
    const reason =
      '/run/proxyd/a/rather/long/name: connect ENOENT /run/proxyd/a/rather/long/name/console.sock';
    const recording: Recording = { ...RECORDING, steps: [{ after: 0, kind: 'down', reason }] };
    const s = await open(60, 20, { recording });
    s.source.command = () => Promise.resolve({ status: 0, body: '' });
    await s.play(1);
    for (const key of ['4', '5', '6', '!']) {
      await s.keys(key);
      await s.settle();
      const text = await s.screen();
      expect(text).toMatch(/no daemon, retrying in \d s: .*…\n/);
      expect(text).toContain('no connection');
      expect(text).not.toMatch(/none sick|none active|all default|no worker has died/);
    }
  });

  it('keeps the data when the daemon goes, counts the seconds, and marks the hole', async () => {
    const recording: Recording = {
      ...RECORDING,
      steps: [
        ...RECORDING.steps.filter((step) => step.after <= 20),
        { after: 21, kind: 'down', reason: 'the daemon shut down' },
        { after: 30, kind: 'up', identity: 'demo', version: '0.1' },
      ],
    };
    const s = await open(100, 24, { recording });
    await s.keys('2');
    await s.play(25);
    const stale = await s.screen();
    expect(stale).toMatch(/Daemon unreachable for 4 s, retrying in \d s: the daemon shut down/);
    expect(stale).toContain('/articles/how-caches-work');
    expect(stale).toContain('● no connection');
    expect(stale).not.toContain('following');
    await s.play(31);
    const back = await s.screen();
    expect(back).toContain('● following');
    expect(back).toContain('▲ connected, no current values yet');
    expect(back).toContain('reconnected');
    expect(back).not.toContain('stale');
  });

  it('keeps figures of the last minute as they were when the daemon went', async () => {
    const reason = '/var/lib/proxyd: Connection refused';
    const recording: Recording = {
      ...RECORDING,
      steps: [...RECORDING.steps.filter((step) => step.after <= 20), { after: 21, kind: 'down', reason }],
    };
    const s = await open(160, 45, { recording });
    await s.play(22);
    const panels = (screen: string): string => /Latency 1m[\s\S]*?(?=╭─ Last errors)/.exec(screen)?.[0] ?? '';
    const before = panels(await s.screen());
    expect(before).toMatch(/ 200 |2xx +\d/);
    // Everything is older than a minute then.
    await s.play(120);
    const after = await s.screen();
    expect(after).toMatch(
      /Daemon unreachable for 99 s, retrying in \d s: \/var\/lib\/proxyd: Connection refused/,
    );
    expect(panels(after)).toBe(before);
    for (const [width, text] of [
      [70, /for 99 s, retrying in \d s: Connection refused$/],
      [60, /for 99 s: Connection refused$/],
    ] as const)
      expect(plain(healthStrip(s.c, width, makeTheme('none', true), true).row)).toMatch(text);
  });
});
