import { describe, expect, it } from 'vitest';
import { DEFAULT_CONFIG, parseConfig } from '../../../../console/model/ui/config.ts';
import { keyGroups, makeKeymap } from '../../../../console/model/ui/global-keys.ts';
import { LOG_VIEW } from '../../../../console/views/log/log-view.tsx';
import { PROGRAMS_VIEW } from '../../../../console/views/programs/programs-view.ts';
import { VIEWS } from '../../../../console/views/views.ts';

const tables = {
  views: VIEWS.map((view) => view.name),
  keys: keyGroups(VIEWS),
  checkQuery: (query: string) => (query.includes('>>') ? 'Expected a value' : null),
};

const parse = (value: unknown): ReturnType<typeof parseConfig> => parseConfig(JSON.stringify(value), tables);

describe('the operator’s file', () => {
  it('returns its contents', () => {
    const { config, problems } = parse({
      theme: 'high-contrast',
      view: 'log',
      utc: true,
      keys: { 'log.why': ['W'], 'list/move.down': ['n'] },
      queries: { slow: 'Timestamp:Resp[2] > 1' },
      instances: [
        { name: 'a', dir: '/run/a' },
        { name: 'b', address: 'h:1', secretFile: '/s' },
      ],
    });
    expect(problems).toEqual([]);
    expect(config).toMatchObject({ theme: 'high-contrast', view: 'log', utc: true, reader: false });
    expect(config.instances.map((i) => i.name)).toEqual(['a', 'b']);
    const keymap = makeKeymap(VIEWS, config.keys);
    expect(keymap.inView(LOG_VIEW.name, 'W')?.command).toBe('log.why');
    expect(keymap.inView(LOG_VIEW.name, 'w')).toBeUndefined();
    expect([
      keymap.inView(PROGRAMS_VIEW.name, 'n')?.command,
      keymap.inView(PROGRAMS_VIEW.name, 'j')?.command,
      keymap.inView(LOG_VIEW.name, 'j')?.command,
    ]).toEqual(['move.down', undefined, 'move.down']);
  });

  it.each([
    [{ theme: 'blue' }, 'theme: one of default, dark, light, high-contrast, none'],
    [{ colour: 1 }, 'colour: unknown'],
    [{ utc: 'yes' }, 'utc: true or false'],
    [{ view: 'nowhere' }, 'view: one of dashboard'],
    [{ keys: { nope: ['x'] } }, 'keys.nope: no such command'],
    [{ keys: { 'log.why': 'w' } }, 'keys.log.why: a list of keys'],
    [{ keys: { 'log.why': ['e'] } }, 'keys.log.why: e is log.next-error'],
    [{ queries: { bad: 'Foo >>' } }, 'queries.bad: Expected a value'],
    [{ queries: ['x'] }, 'queries: an object of name to query'],
    [{ instances: [{ name: 'a' }] }, 'instances[0]: a name'],
    [{ instances: [{ name: 'a', dir: '/x', varnish: 'b' }] }, 'instances[0]: a name'],
    [{ instances: [{ name: 'a', varnish: 'ssh://-b' }] }, 'instances[0].varnish: "-b" is not a host'],
    [{ instances: [{ name: 'a', dir: '/x', address: 'h:1' }] }, 'instances[0]: a name'],
  ])('leaves out what is wrong and says where: %j', (value, problem) => {
    const { config, problems } = parse({ ...value, reader: true });
    expect(problems[0]).toContain(problem);
    expect(config).toEqual({ ...DEFAULT_CONFIG, reader: true });
  });

  it('takes what names no view, key or query before those are known', () => {
    const text = JSON.stringify({
      view: 'nonsense',
      keys: { x: 1 },
      queries: 7,
      utc: true,
      instances: [{ name: 'a', dir: '/x' }],
    });
    expect(parseConfig(text, null)).toEqual({
      config: { ...DEFAULT_CONFIG, utc: true, instances: [{ name: 'a', dir: '/x' }] },
      problems: [],
    });
    expect(parseConfig(text, tables).problems).toHaveLength(3);
  });

  it('takes keys that another binding has given up', () => {
    expect(parse({ keys: { 'log.why': ['e'], 'log.next-error': ['w'] } }).problems).toEqual([]);
  });

  it('stands in for a file that is not JSON', () => {
    expect(parseConfig('{', tables)).toMatchObject({ config: DEFAULT_CONFIG });
    expect(parseConfig('[]', tables).problems).toEqual(['not an object']);
  });
});
