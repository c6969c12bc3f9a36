import { expect, it } from 'vitest';
import { resolveWorkdir, stateDirectory, workdirPlaces } from '../../protocol/workdir.ts';

const runtime = { XDG_RUNTIME_DIR: '/run/user/7' };

it.each([
  [undefined, 7, {}, '/home/u/.local/state/proxyd'],
  ['', 7, {}, '/home/u/.local/state/proxyd'],
  [undefined, 7, { XDG_STATE_HOME: '/s/' }, '/s/proxyd'],
  [undefined, 7, { XDG_STATE_HOME: 'relative' }, '/home/u/.local/state/proxyd'],
  [undefined, 7, runtime, '/run/user/7/proxyd'],
  [undefined, 7, { XDG_RUNTIME_DIR: '/run/user/7/' }, '/run/user/7/proxyd'],
  [undefined, 7, { XDG_RUNTIME_DIR: 'relative' }, '/home/u/.local/state/proxyd'],
  [undefined, 7, { XDG_RUNTIME_DIR: '' }, '/home/u/.local/state/proxyd'],
  [undefined, 0, {}, '/run/proxyd'],
  [undefined, 0, runtime, '/run/proxyd'],
  ['edge', 0, runtime, '/run/edge'],
  ['edge', 7, {}, '/home/u/.local/state/edge'],
  ['edge/', 7, runtime, '/run/user/7/edge'],
  ['/srv/p/', 7, {}, '/srv/p'],
  ['/srv/p', 0, runtime, '/srv/p'],
  [undefined, 7, { VARNISH_DEFAULT_N: 'edge' }, '/home/u/.local/state/edge'],
  ['', 0, { VARNISH_DEFAULT_N: '/srv/v/' }, '/srv/v'],
  [undefined, 0, { VARNISH_DEFAULT_N: '/srv/v', PROXYD_DEFAULT_N: '/srv/p' }, '/srv/p'],
  [undefined, 0, { VARNISH_DEFAULT_N: '' }, '/run/proxyd'],
  ['own', 0, { VARNISH_DEFAULT_N: '/srv/v' }, '/run/own'],
])('-n %j of user %d with %j is %s', (name, uid, env, dir) => {
  expect(resolveWorkdir(name, { env, uid, home: '/home/u' })).toBe(dir);
});

it('tools look in each place, their own first', () => {
  const user = { env: runtime, uid: 7, home: '/home/u' };
  const root = { env: {}, uid: 0, home: '/root' };
  expect(workdirPlaces(undefined, user)).toEqual([
    '/run/user/7/proxyd',
    '/home/u/.local/state/proxyd',
    '/run/proxyd',
  ]);
  expect(workdirPlaces('edge', root)).toEqual(['/run/edge', '/root/.local/state/edge']);
  expect(workdirPlaces('/srv/p', user)).toEqual(['/srv/p']);
});

it.each([
  ['/run/proxyd', 0, {}, '/var/lib/proxyd/acme'],
  ['/run/user/7/proxyd', 7, runtime, '/home/u/.local/state/proxyd/acme'],
  ['/run/user/7/proxyd', 7, { ...runtime, XDG_STATE_HOME: '/s/' }, '/s/proxyd/acme'],
  ['/run/proxyd', 7, { STATE_DIRECTORY: '/var/lib/proxyd:/var/lib/more' }, '/var/lib/proxyd/acme'],
  ['/srv/p', 0, {}, '/var/lib/proxyd/acme@p-c4cbe899'],
  ['/srv/q/p', 0, {}, '/var/lib/proxyd/acme@p-7bf92bd5'],
])('state of a daemon in %s of user %d with %j is in %s', (workdir, uid, env, dir) => {
  expect(stateDirectory('acme', workdir, { env, uid, home: '/home/u' })).toBe(dir);
});

it('a user without a home has no place for state', () => {
  expect(stateDirectory('acme', '/srv/p', { env: {}, uid: 7, home: '' })).toBeNull();
});
