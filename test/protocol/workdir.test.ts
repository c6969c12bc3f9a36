import { expect, it } from 'vitest';
import { resolveWorkdir } from '../../protocol/workdir.ts';

it.each([
  [undefined, {}, '/dev/shm/proxyd-7'],
  ['', {}, '/dev/shm/proxyd-7'],
  [undefined, { XDG_RUNTIME_DIR: '/run/user/7' }, '/run/user/7/proxyd'],
  [undefined, { XDG_RUNTIME_DIR: '/run/user/7/' }, '/run/user/7/proxyd'],
  [undefined, { XDG_RUNTIME_DIR: 'relative' }, '/dev/shm/proxyd-7'],
  [undefined, { XDG_RUNTIME_DIR: '' }, '/dev/shm/proxyd-7'],
  ['edge', {}, '/dev/shm/edge'],
  ['edge', { XDG_RUNTIME_DIR: '/run/user/7' }, '/run/user/7/edge'],
  ['/srv/p/', {}, '/srv/p'],
  ['/srv/p', { XDG_RUNTIME_DIR: '/run/user/7' }, '/srv/p'],
])('-n %j with %j is %s', (name, env, dir) => {
  expect(resolveWorkdir(name, env, 7)).toBe(dir);
});
