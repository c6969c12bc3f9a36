import { describe, expect, it } from 'vitest';
import { optionLetters } from '../../../../daemon/manager/options/documents.ts';
import { OptionError } from '../../../../daemon/manager/options/option-error.ts';
import {
  type Options,
  parseOptions,
  startsWorkerAtOnce,
} from '../../../../daemon/manager/options/options.ts';

function options(...argv: string[]): Options {
  const request = parseOptions(argv);
  if (request.kind !== 'run') throw new Error(request.kind);
  return request.options;
}
function mistake(...argv: string[]): string {
  try {
    parseOptions(argv);
  } catch (e) {
    if (e instanceof OptionError) return e.message;
    throw e;
  }
  throw new Error('accepted');
}

describe('forms', () => {
  it('takes values joined, apart and after other flags', () => {
    expect(options('-dnfoo').dir).toBe('foo');
    expect(options('-d', '-n', 'foo').dir).toBe('foo');
    expect(options('-Ffx.vcl')).toMatchObject({ mode: 'foreground', programs: ['x.vcl'] });
    expect(options('-d', '--allow-host', 'Web1', '--allow-host=[::1]:7').hosts).toEqual(['web1', '[::1]:7']);
    expect(() => options('-d', '--allow-host', 'a b')).toThrow('is not host or host:port');
    expect(options('-d', '--console=:1', '--console', '[::1]:2').consoles).toEqual([
      { text: ':1', host: '0.0.0.0', port: 1 },
      { text: '[::1]:2', host: '::1', port: 2 },
    ]);
    expect(options('-d', '-T', 'none', '-T', 'here', '-T', 'h 5', '-M', 'h:6')).toMatchObject({
      cli: [
        { host: 'here', port: 0 },
        { host: 'h', port: 5 },
      ],
      reverseCli: [{ host: 'h', port: 6 }],
    });
  });

  it('collects what may be repeated, and fills in the rest', () => {
    const o = options(
      '-f',
      'a',
      '-f',
      'b',
      '-p',
      'x=1=2',
      '-t',
      '5',
      '-r',
      'a,b',
      '-r',
      'c, d e',
      '-r',
      '',
      '-r',
      ',f',
      '-l',
      '90m,on',
    );
    expect(o.params).toEqual([
      { name: 'x', value: '1=2' },
      { name: 'default_ttl', value: '5' },
      { name: 'vsl_space', value: '90m,on' },
    ]);
    expect(o.readOnly).toEqual(['a', 'b', 'c', 'd', 'e', '', 'f']);
    expect(o.listeners).toEqual([{ name: 'a0', text: ':80', proto: 'HTTP', host: '', port: 80 }]);
    expect(o.storages).toEqual([
      { name: 's0', kind: 'malloc', size: 100 << 20 },
      { name: 'Transient', kind: 'malloc', size: 0 },
    ]);
  });

  it('ignores -h and -W', () => {
    expect(options('-b', 'none', '-h', 'critbit', '-W', 'epoll').backend).toBe('none');
  });

  it('takes the last -j, and a group of readers', () => {
    expect(options('-b', 'none')).toMatchObject({ jail: null, readGroup: null });
    expect(options('-b', 'none', '-j', 'none', '-j', 'unix,user=u', '--read-group', 'g')).toMatchObject({
      jail: { kind: 'unix', user: 'u' },
      readGroup: 'g',
    });
  });

  it('knows each letter of its own list', () => {
    for (const letter of optionLetters().replaceAll(':', '')) {
      let message = '';
      try {
        parseOptions([`-${letter}`]);
      } catch (e) {
        message = (e as Error).message;
      }
      expect(message, letter).not.toContain('invalid option');
    }
  });

  it.each([
    [['-V', '-F'], 'Too many arguments for -V'],
    [['-x', 'vsl', '-d'], 'Too many arguments for -x'],
    [['-V', 'x'], 'Too many arguments for -V'],
    [['x', '-V'], 'Too many arguments for -V'],
    [['-V', '-Z'], 'Too many arguments for -V'],
    [['-Z', '-V'], "invalid option -- 'Z'"],
    [['-C', '-F', '-b', 'x'], '-F makes no sense with -C'],
    [['-d', '-I', 'a', '-I', 'b'], '\tOnly one -I allowed'],
    [['-d', '-W', 'foo'], 'Unknown waiter method "foo"'],
    [['-d', '-W', 'epoll,x'], 'Unknown waiter method "epoll,x"'],
    [['-d', '-h', ''], '-h argument is empty'],
    [['-d', '-h', 'critbit,1'], 'Hash method "critbit" takes no arguments'],
    [['-d', '-h', 'classic,1,2'], '(-hclassic) too many arguments'],
    [['-d', '-j', 'nosuch,user=x'], 'Unknown jail method "nosuch"'],
    [['-d', '-E', ''], '-E argument is empty'],
    [['-d', '-j', 'solaris'], 'Unknown jail method "solaris"'],
    [['-d', '-j', 'none,user=x'], '-jnone takes no arguments.'],
    [['-d', '-T', '127.0.0.1:99999'], '-T: "127.0.0.1:99999" is not addr:port'],
    [['-d', '-M', 'host'], '-M: "host" is not addr:port'],
    [['-d', '-S', 'none', '--console', ':1'], '--console needs a secret: not -S none'],
  ])('refuses %j', (argv, message) => {
    expect(mistake(...argv)).toBe(message);
  });

  it('answers documents before anything else is checked', () => {
    expect(parseOptions(['-V'])).toEqual({ kind: 'version' });
    expect(parseOptions(['-?'])).toEqual({ kind: 'usage' });
    expect(parseOptions(['-x', 'builtin'])).toEqual({ kind: 'document', what: 'builtin' });
  });
});

describe('listeners', () => {
  it.each([
    [':8080', { name: 'a0', host: '', port: 8080, proto: 'HTTP' }],
    ['127.0.0.1', { host: '127.0.0.1', port: 80 }],
    ['127.0.0.1:0', { port: 0 }],
    ['[::1]:81', { host: '::1', port: 81 }],
    ['::1', { host: '::1', port: 80 }],
    ['localhost:http', { host: 'localhost', port: 80 }],
    ['localhost:no-such-service', 'Got no socket(s) for localhost:no-such-service'],
    [':', { host: '', port: 80 }],
    ['*:81', { host: '', port: 81 }],
    [':81 PROXY', { port: 81, proto: 'PROXY' }],
    ['', 'Got no socket(s) for '],
    ['web=:81,PROXY', { name: 'web', port: 81, proto: 'PROXY' }],
    ['300.0.0.1:81', 'Got no socket(s) for 300.0.0.1:81'],
    [':70000', 'Got no socket(s) for :70000'],
    [':81,FOO', "Unknown protocol 'FOO'"],
    [':81,proxy', { proto: 'PROXY' }],
    [':81,', "Unknown protocol ''"],
    [':81,HTTP,PROXY', 'Too many protocol sub-args in -a (PROXY)'],
    [':81,mode=666', 'Invalid sub-arg mode=666 for IP addresses in -a'],
    [
      '/run/p.sock,user=daemon,group=adm,mode=660',
      { path: '/run/p.sock', user: 'daemon', group: 'adm', mode: 0o660 },
    ],
    ['sock=/run/p.sock,PROXY', { name: 'sock', path: '/run/p.sock', proto: 'PROXY' }],
    ['/run/p.sock,mode=999', 'Invalid mode sub-arg 999 in -a'],
    ['/run/p.sock,mode=1777', 'Mode sub-arg 1777 out of range in -a'],
    ['/run/p.sock,mode=', 'Empty mode sub-arg in -a'],
    ['/run/p.sock,mode=600,mode=660', 'Too many mode sub-args in -a (mode=660)'],
    ['/run/p.sock,user=nobody-of-that-name', 'Unknown user nobody-of-that-name in -a'],
    ['/run/p.sock,group=no-such-group', 'Unknown group no-such-group in -a'],
    ['./p.sock', 'Unix domain socket addresses must be absolute paths in -a (./p.sock)'],
    ['@abstract', { name: 'a0', path: '@abstract' }],
    ['sock=@abstract,PROXY', { name: 'sock', path: '@abstract', proto: 'PROXY' }],
    ['@', 'Got no socket(s) for @ (The empty abstract socket name is not supported)'],
    ['@abstract,user=daemon', 'Invalid sub-arg user=daemon in -a'],
    ['@abstract,mode=666', 'Invalid sub-arg mode=666 in -a'],
    ['127.0.0.1:89-80', 'Got no socket(s) for 127.0.0.1:89-80 (Range start higher than range end)'],
    ['127.0.0.1:0-3', 'Got no socket(s) for 127.0.0.1:0-3 (Range start cannot be 0)'],
    ['127.0.0.1:80-99999', 'Got no socket(s) for 127.0.0.1:80-99999 (Range end higher than 65535)'],
    ['127.0.0.1:80-', 'Got no socket(s) for 127.0.0.1:80-'],
    ['127.0.0.1:80-81-82', 'Got no socket(s) for 127.0.0.1:80-81-82'],
    ['1x=:81', 'invalid -a name "1x"=[...]'],
    ['x=', 'Empty named -a argument "x="'],
    [`/${'x'.repeat(107)}`, `Got no socket(s) for /${'x'.repeat(107)}`],
    [`/${'x'.repeat(106)}`, { path: `/${'x'.repeat(106)}` }],
  ])('%s', (text, expected) => {
    if (typeof expected === 'string') expect(mistake('-d', '-a', text)).toBe(expected);
    else expect(options('-d', '-a', text).listeners[0]).toMatchObject(expected);
  });

  it('names those in order that have no name', () => {
    const { listeners } = options('-d', '-a', ':1', '-a', 'x=:2', '-a', ':3');
    expect(listeners.map((l) => l.name)).toEqual(['a0', 'x', 'a1']);
  });

  it('listens on each port of a range, under one name', () => {
    const { listeners } = options('-d', '-a', '[::1]:80-83,PROXY', '-a', ':90');
    expect(listeners.map((l) => [l.name, l.host, l.port, l.proto])).toEqual([
      ...[80, 81, 82, 83].map((port) => ['a0', '::1', port, 'PROXY']),
      ['a1', '', 90, 'HTTP'],
    ]);
    expect(options('-d', '-a', ':1-65535').listeners).toHaveLength(65_535);
    expect(mistake('-d', '-a', 'x=:1-5', '-a', 'y=:5-6')).toBe(
      '-a arguments x=:1-5 and y=:5-6 have same address',
    );
  });

  it('refuses one address twice, but not a port of the kernel’s choice', () => {
    expect(mistake('-d', '-a', 'x=:1', '-a', 'y=:1')).toBe('-a arguments x=:1 and y=:1 have same address');
    expect(mistake('-d', '-a', '/a', '-a', '/a,PROXY')).toBe(
      '-a arguments /a and /a,PROXY have same address',
    );
    expect(options('-d', '-a', ':0', '-a', ':0').listeners).toHaveLength(2);
  });
});

describe('storages', () => {
  it.each([
    ['malloc,64m', { name: 's0', size: 64 << 20 }],
    ['default,1G', { name: 's0', size: 2 ** 30 }],
    ['big=umem,1G', { name: 'big', size: 2 ** 30 }],
    [
      'persistent,/x,1G',
      'Storage method "persistent" is not supported (supported: malloc, default, umem, disk, file)',
    ],
    ['disk,x,1G', '(-sdisk) needs the absolute path of a directory'],
    ['disk,/x,1M', '(-sdisk) size "1M": too small, at least 64M'],
    ['disk,/x,1G,random', '(-sdisk) too many arguments'],
    ['Transient=disk,/x,1G', 'Transient cannot be on disk'],
    ['foo,1m', 'Unknown storage method "foo"'],
    ['malloc,1x', '(-smalloc) size "1x": Unknown BYTES unit of measurement ([KMGTP][B])'],
    ['malloc,10', '(-smalloc) size "10": too small, did you forget to specify M or G?'],
  ])('%s', (text, expected) => {
    if (typeof expected === 'string') expect(mistake('-d', '-s', text)).toBe(expected);
    else expect(options('-d', '-s', text).storages[0]).toMatchObject(expected);
  });

  it('has at most one disk tier', () => {
    const parsed = options('-d', '-s', 'cold=file,/var/cache/x,1G');
    expect(parsed.disk).toEqual({ name: 'cold', path: '/var/cache/x', size: 2 ** 30 });
    expect(parsed.storages.map(({ name }) => name)).toEqual(['s0', 'Transient']);
    const alone = options('-d', '-s', 'disk,/x,1G');
    expect([alone.disk?.name, ...alone.storages.map(({ name }) => name)]).toEqual(['s0', 's1', 'Transient']);
    expect(mistake('-d', '-s', 'disk,/x,1G', '-s', 'disk,/y,1G')).toBe(
      'Only one -s of kind disk can be specified',
    );
  });

  it('keeps a Transient that was given', () => {
    expect(options('-d', '-s', 'Transient=malloc,5m').storages).toEqual([
      { name: 's0', kind: 'malloc', size: 100 << 20 },
      { name: 'Transient', kind: 'malloc', size: 5 << 20 },
    ]);
  });
});

describe('an empty -f', () => {
  it.each([
    [['-f', ''], false],
    [['-f', '', '-f', ''], false],
    [['-f', '', '-f', 'a'], true],
    [['-f', 'a', '-f', ''], true],
    [['-b', 'none'], true],
  ])('is no program beside others, and with %j the worker starts: %s', (args, starts) => {
    expect(startsWorkerAtOnce(options(...args))).toBe(starts);
  });
});

describe('mistakes', () => {
  it.each([
    [[], "Neither -b nor -f given. (use -f '' to override)"],
    [['-b', 'x', '-f', 'y'], 'Only one of -b or -f can be specified'],
    [['-d', '-F'], 'Only one of -d or -F can be specified'],
    [['-C'], '-C needs either -b <backend> or -f <vcl_file>'],
    [['-d', '-p', 'x'], "\t-p lacks '='"],
    [['-x', 'foo'], 'Invalid -x argument'],
    [['-Q'], "invalid option -- 'Q'"],
    [['--nosuch'], "unknown option '--nosuch'"],
    [['--metric', ':1'], "unknown option '--metric'\n(Did you mean --metrics?)"],
    [['-d', '-5'], "invalid option -- '5'"],
    [['-d', '--console'], "option requires an argument -- 'console'"],
    [['-n'], "option requires an argument -- 'n'"],
    [['-d', 'foo', 'bar'], 'Too many arguments (foo...)'],
    [['-d', '-i', 'a b'], "Invalid character ' ' for -i, which is a token (Via)"],
    [['-d', '-i', 'a/b'], "Invalid character '/' for -i, which is a token (Via)"],
    [['-d', '-i', ''], 'Nothing for -i, which is a token (Via)'],
  ])('%j', (argv, message) => {
    expect(mistake(...argv)).toBe(message);
  });
});
