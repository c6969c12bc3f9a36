import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  type Accounts,
  isShared,
  makeAccess,
  makeJail,
  parseJail,
} from '../../../../daemon/manager/process/jail.ts';

const users: Record<string, { uid: number; gid: number }> = {
  root: { uid: 0, gid: 0 },
  nobody: { uid: 65534, gid: 65534 },
  web: { uid: 101, gid: 7 },
  worker: { uid: 102, gid: 7 },
};
const accounts: Accounts = {
  userAccount: (name) => users[name] ?? null,
  groupId: (name) => ({ cc: 8, readers: 9 })[name] ?? null,
};
const NOBODY = { user: 'nobody', uid: 65534, gid: 65534 };
const WEB = { user: 'web', uid: 101, gid: 7 };

afterEach(() => vi.restoreAllMocks());

describe('-j', () => {
  it.each([
    ['none', { kind: 'none' }],
    ['unix', { kind: 'unix' }],
    ['unix,user=web,ccgroup=cc', { kind: 'unix', user: 'web', ccgroup: 'cc' }],
    ['linux', { kind: 'unix' }],
    ['linux,transparent_hugepage=ignore,user=web', { kind: 'unix', user: 'web' }],
    ['linux,transparent_hugepage=try-disable', { kind: 'unix' }],
    ['unix,workuser=worker,user=web', { kind: 'unix', user: 'web', workuser: 'worker' }],
  ])('%s', (text, option) => {
    expect(parseJail(text)).toEqual(option);
  });

  it.each([
    ['none,user=x', '-jnone takes no arguments.'],
    ['linux,transparent_hugepage=foo', "linux jail: unknown value 'foo' for argument transparent_hugepage."],
    [
      'linux,transparent_hugepage=disable',
      'linux jail: transparent huge pages cannot be disabled here: use try-disable',
    ],
    ['linux,bar=1', "Unix jail: unknown sub-argument 'bar=1'"],
    ['unix,transparent_hugepage=ignore', "Unix jail: unknown sub-argument 'transparent_hugepage=ignore'"],
    ['unix,foo=1', "Unix jail: unknown sub-argument 'foo=1'"],
    ['unix,', "Unix jail: unknown sub-argument ''"],
    ['solaris', 'Unknown jail method "solaris"'],
    ['', '-j argument is empty'],
  ])('%s is a mistake', (text, message) => {
    expect(() => parseJail(text)).toThrow(message);
  });
});

describe('the accounts', () => {
  it('are those named, else the first there is', () => {
    expect(makeJail(null, 0, accounts)).toEqual({ worker: NOBODY, describer: NOBODY });
    expect(makeJail(parseJail('unix'), 0, accounts)).toEqual({ worker: NOBODY, describer: NOBODY });
    expect(makeJail(parseJail('unix,user=web'), 0, accounts)).toEqual({ worker: WEB, describer: WEB });
    expect(makeJail(parseJail('unix,user=web,workuser=worker,ccgroup=cc'), 0, accounts)).toEqual({
      worker: { user: 'worker', uid: 102, gid: 7 },
      describer: { ...WEB, extraGroup: 8 },
    });
    const all = { ...accounts, userAccount: () => ({ uid: 77, gid: 78 }) };
    expect(makeJail(null, 0, all)?.worker).toEqual({ user: 'proxyd', uid: 77, gid: 78 });
  });

  it('are none without root or with -j none', () => {
    expect(makeJail(null, 5, accounts)).toBeNull();
    expect(makeJail(parseJail('none'), 0, accounts)).toBeNull();
    expect(makeJail(parseJail('none'), 5, accounts)).toBeNull();
  });

  it.each([
    ['unix,user=nosuch', 'Unix jail: nosuch user not found.'],
    ['unix,user=', 'Unix jail:  user not found.'],
    ['unix,workuser=nosuch', 'Unix jail: nosuch user not found.'],
    ['unix,ccgroup=nosuch', 'Unix jail: nosuch group not found.'],
    ['unix,user=root', 'user root is root, which is no jail'],
    ['unix,user=web,workuser=nobody', 'user web and nobody have different login groups'],
  ])('%s cannot be had', (text, message) => {
    expect(() => makeJail(parseJail(text), 0, accounts)).toThrow(message);
  });

  it('cannot be had by another user than root, or where there is none', () => {
    expect(() => makeJail(parseJail('unix'), 5, accounts)).toThrow('Unix Jail: Must be root.');
    expect(() => makeJail(null, 0, { ...accounts, userAccount: () => null })).toThrow(
      /no user proxyd or nobody.*-j none/,
    );
  });
});

describe('--read-group', () => {
  it('is a group of this machine that one may give access to', () => {
    const jail = { kind: 'none' as const };
    vi.spyOn(process, 'geteuid').mockReturnValue(0);
    expect(makeAccess({ jail, readGroup: 'readers' }, accounts)).toEqual({ jail: null, readers: 9 });
    expect(() => makeAccess({ jail, readGroup: 'nosuch' }, accounts)).toThrow('there is no group nosuch');
    vi.spyOn(process, 'geteuid').mockReturnValue(5);
    expect(() => makeAccess({ jail, readGroup: 'readers' }, accounts)).toThrow(
      'only root or a member of readers',
    );
    vi.spyOn(process, 'getgroups').mockReturnValue([9]);
    expect(makeAccess({ jail, readGroup: 'readers' }, accounts)).toEqual({ jail: null, readers: 9 });
  });

  it('and a jail let others into the working directory', () => {
    expect(isShared({ jail: null, readers: null })).toBe(false);
    expect(isShared({ jail: null, readers: 9 })).toBe(true);
    expect(isShared({ jail: { worker: WEB, describer: WEB }, readers: null })).toBe(true);
  });
});
