import { describe, expect, it } from 'vitest';
import { isChanging, isDestructive } from '../../../../console/model/session/admin-line.ts';
import { parseBackendList } from '../../../../console/model/session/backends.ts';
import { commonPrefix, complete } from '../../../../console/model/ui/completion.ts';
import { keyGroups, makeKeymap } from '../../../../console/model/ui/global-keys.ts';
import {
  EMPTY_LINE,
  EMPTY_RECALL,
  editKey,
  insert,
  type Line,
  lineOf,
  remember,
  walk,
} from '../../../../console/model/ui/line-editor.ts';
import {
  bytes,
  count,
  duration,
  percent,
  scaledBytes,
  uptime,
} from '../../../../console/model/ui/numbers.ts';
import { LOG_VIEW } from '../../../../console/views/log/log-view.tsx';
import { STATS_VIEW } from '../../../../console/views/stats/stats-view.tsx';
import { VIEWS } from '../../../../console/views/views.ts';
import { COMMANDS } from '../../../../protocol/tables/commands.ts';
import { PARAMS } from '../../../../protocol/tables/params.ts';

const keymap = makeKeymap(VIEWS);

const TABLES = { commands: COMMANDS, params: PARAMS, programs: ['boot', 'new'], backends: ['boot.a'] };
const EXPORT = { name: 'export', syntax: '', help: '' };
const texts = (line: string): string[] => complete(line, line.length, TABLES).candidates.map((c) => c.text);

describe('line editor', () => {
  const edit = (line: Line, ...keys: string[]): Line => keys.reduce((l, k) => editKey(l, k) ?? l, line);

  it('inserts at the cursor and turns line ends into blanks', () => {
    expect(insert({ text: 'ac', cursor: 1 }, 'b\n\n')).toEqual({ text: 'ab c', cursor: 3 });
  });

  it('moves and deletes by words', () => {
    const line = lineOf('vcl.use  boot');
    expect(edit(line, 'ctrl+w')).toEqual({ text: 'vcl.use  ', cursor: 9 });
    expect(edit(line, 'ctrl+a', 'ctrl+right', 'ctrl+k').text).toBe('vcl.use');
    expect(edit(line, 'ctrl+u')).toEqual({ text: '', cursor: 0 });
  });

  it('never splits a surrogate pair', () => {
    const line = insert(EMPTY_LINE, 'a😀');
    expect(edit(line, 'backspace').text).toBe('a');
    expect(edit(line, 'left', 'delete').text).toBe('a');
  });

  it('leaves other keys alone', () => {
    expect(editKey(EMPTY_LINE, 'f5')).toBeUndefined();
  });
});

describe('recall', () => {
  it('walks back over what begins alike and returns to the draft', () => {
    let recall = EMPTY_RECALL;
    for (const text of ['ping', 'param.show', 'ping', 'status']) recall = remember(recall, text);
    const one = walk(recall, lineOf('p'), 1);
    expect(one.line.text).toBe('ping');
    const two = walk(one.recall, one.line, 1);
    expect(two.line.text).toBe('param.show');
    const back = walk(walk(two.recall, two.line, -1).recall, two.line, -1);
    expect(back.line.text).toBe('p');
  });

  it('keeps no repeats and no blanks', () => {
    expect(remember(remember(remember(EMPTY_RECALL, 'a'), 'a'), '  ').entries).toEqual(['a']);
  });
});

describe('completion', () => {
  it('knows commands, parameters, programs and backends', () => {
    expect(texts('vcl.dis')).toEqual(['vcl.discard']);
    expect(texts('param.show default_')).toEqual(['default_grace', 'default_keep', 'default_ttl']);
    expect(texts('vcl.use ')).toEqual(['boot', 'new']);
    expect(texts('backend.set_health boot.a s')).toEqual(['sick']);
    expect(texts('ping ')).toEqual([]);
  });

  it('continues with the last word where that may be repeated', () => {
    expect(texts('vcl.discard boot ')).toEqual(['boot', 'new']);
    expect(texts('fleet.use x --on web-1 --f')).toEqual(['--force']);
  });

  it('knows each condition of a ban, a quoted value as one word', () => {
    expect(texts('ban obj.st')).toEqual(['obj.status']);
    expect(texts('ban req.url !')).toEqual(['!=', '!~']);
    expect(texts('ban req.url ~ "a \\" b" ')).toEqual(['&&']);
    expect(texts('ban req.http.host == "a" && req.u')).toEqual(['req.url']);
    expect(texts('ban req.http.host == "a" && req.url ')).toContain('~');
    // Within the quotes.
    expect(texts('ban req.url ~ "a ')).toEqual([]);
  });

  it('knows the files here, for commands of the console and of a daemon on this machine', () => {
    const files = (prefix: string) => ['/etc/a.vcl', '/etc/b/'].filter((path) => path.startsWith(prefix));
    const asked = (line: string, local: boolean) =>
      complete(line, line.length, {
        ...TABLES,
        commands: [...COMMANDS, EXPORT],
        files,
        local,
      }).candidates.map((c) => c.text);
    expect(asked('vcl.load new /etc/', true)).toEqual(['/etc/a.vcl', '/etc/b/']);
    expect(asked('vcl.try new /etc/', true)).toEqual(['/etc/a.vcl', '/etc/b/']);
    expect(asked('vcl.load new /etc/', false)).toEqual([]);
    expect(asked('export /etc/a', false)).toEqual(['/etc/a.vcl']);
  });

  it('shows the syntax of the command being typed', () => {
    expect(complete('param.set x', 11, TABLES).usage).toContain('param.set');
  });

  it('completes up to where candidates part', () => {
    expect(commonPrefix(complete('vcl.l', 5, TABLES).candidates)).toBe('vcl.l');
    expect(commonPrefix([])).toBe('');
  });

  it('distinguishes reading from changing, and changing from destroying', () => {
    expect(isChanging('param.set a b')).toBe(true);
    expect(isChanging('param.show')).toBe(false);
    for (const line of ['"ban" x', '-ban x', ' - "ban" x', 'b\\x61n x', 'quit', '"quit"'])
      expect({ line, changes: isChanging(line) }).toEqual({ line, changes: true });
    for (const line of ['', '"ban', 'no.such', 'ping ban'])
      expect({ line, changes: isChanging(line) }).toEqual({ line, changes: false });
    expect(isDestructive('"stop"', COMMANDS)).toBe(true);
    expect(isDestructive('stop', COMMANDS)).toBe(true);
    expect(isDestructive('param.show', COMMANDS)).toBe(false);
  });

  it('refuses every command of the table that is not known to only read', () => {
    const reading = [
      'auth',
      'backend.list',
      'ban.count',
      'ban.list',
      'banner',
      'event.list',
      'debug.listen_address',
      'edge.dead',
      'edge.queue',
      'edge.show',
      'edge.status',
      'edge.test',
      'fleet.list',
      'turn.list',
      'fleet.log',
      'fleet.nodes',
      'help',
      'listen.list',
      'panic.show',
      'param.show',
      'pid',
      'ping',
      'status',
      'storage.largest',
      'storage.list',
      'tls.acme.list',
      'tls.cert.list',
      'vcl.deps',
      'vcl.list',
      'vcl.show',
    ];
    const unlisted = COMMANDS.filter((c) => !isChanging(c.name) && !reading.includes(c.name)).map(
      (c) => c.name,
    );
    expect(unlisted).toEqual([]);
  });
});

describe('keymap', () => {
  it("has Varnish's keys in the statistics view", () => {
    for (const key of [
      'h',
      'up',
      'k',
      'down',
      'j',
      'pageup',
      'b',
      'ctrl+b',
      'pagedown',
      'space',
      'ctrl+f',
      'home',
      'g',
      'end',
      'G',
      'd',
      'r',
      'e',
      'v',
      'V',
      'q',
      'ctrl+t',
      '+',
      '-',
      '0',
    ]) {
      expect(keymap.inView(STATS_VIEW.name, key), key).toBeDefined();
    }
  });

  it('gives no key two meanings in one scope', () => {
    const seen = keyGroups(VIEWS).flatMap(({ scope, rows }) =>
      rows.flatMap((r) => r.keys.map((k) => `${scope} ${k}`)),
    );
    expect(seen.filter((k, i) => seen.indexOf(k) !== i)).toEqual([]);
  });

  it('keeps keys of the view from reaching through a panel, but not those that leave it', () => {
    expect(keymap.inPanel('q')?.command).toBe('back');
    expect(keymap.inPanel('p')).toBeUndefined();
    expect(keymap.inPanel('1')?.command).toBe('view.dashboard');
    expect(keymap.inPanel('ctrl+c')?.command).toBe('quit');
  });

  it('makes help and hints of the same table', () => {
    const all = keymap.help(LOG_VIEW.name, '').flatMap((s) => s.rows);
    const groups = keyGroups(VIEWS).filter((g) => g.scope !== 'panel');
    expect(all.length).toBe(groups.flatMap((g) => g.rows).length);
    expect(keymap.help(LOG_VIEW.name, 'UNFOLD').flatMap((s) => s.rows).length).toBe(2);
    expect(keymap.hints(STATS_VIEW.name, false).map((h) => h.key)).toContain('?');
  });
});

describe('numbers', () => {
  it('reads like Varnish where Varnish has a form', () => {
    expect([scaledBytes(1023), scaledBytes(1659), scaledBytes(100 << 20)]).toEqual([
      '1023',
      '1.62K',
      '100.00M',
    ]);
    expect([uptime(3), uptime(90_061)]).toEqual(['0+00:00:03', '1+01:01:01']);
  });

  it('is short elsewhere', () => {
    expect([count(9999), count(12_345), count(7_800_000)]).toEqual(['9,999', '12.3k', '7.8M']);
    expect([bytes(512), bytes(4300), bytes(100 << 20)]).toEqual(['512 B', '4.2 KB', '100 MB']);
    expect([duration(0.00008), duration(0.034), duration(1.25), duration(125), duration(90_000)]).toEqual([
      '80µs',
      '34.0ms',
      '1.25s',
      '2m05s',
      '1d01h',
    ]);
    expect([percent(null), percent(1), percent(0.9345)]).toEqual(['–', '100%', '93.5%']);
  });
});

describe('backend list', () => {
  it('reads probed, forced and plain backends', () => {
    const row = (admin: string, message: unknown): unknown => ({
      type: 'backend',
      admin_health: admin,
      probe_message: message,
      last_change: 5.5,
    });
    const body = JSON.stringify([
      3,
      [],
      0,
      { a: row('probe', [2, 8, 'sick']), b: row('sick', [8, 8, 'healthy']), c: row('probe', 'healthy') },
    ]);
    expect(parseBackendList(body).map((b) => [b.name, b.health, b.probe])).toEqual([
      ['a', 'sick', { good: 2, window: 8 }],
      ['b', 'sick', { good: 8, window: 8 }],
      ['c', 'healthy', null],
    ]);
  });

  it('makes nothing of anything else', () => {
    for (const body of ['', '{}', '[3]', '[3,[],0,null]', 'Backend name Admin'])
      expect(parseBackendList(body)).toEqual([]);
  });
});
