// Names and numbers of the process at the other end; the numbers are the session's.
import { describe, expect, it } from 'vitest';
import type { VclSession } from '../../../../daemon/contract/context.ts';
import { type Task, task } from '../../vcl/fake-task.ts';

const PROGRAM = `import unix; sub vcl_recv {
  set req.http.user = unix.user(); set req.http.group = unix.group();
  set req.http.uid = unix.uid(); set req.http.gid = unix.gid(); return (pass); }`;

function run(session: Partial<VclSession>): Task {
  const t = task(PROGRAM);
  Object.assign(t.req, { session: { ...t.req.session, ...session } });
  expect(t.run('recv')).toBe('pass');
  return t;
}

function values(t: Task): (string | null)[] {
  return ['user', 'group', 'uid', 'gid'].map((n) => t.req.http.get(n));
}

const PATH = { endpointSocket: '/run/p.sock' };

describe('the extension unix', () => {
  it('reports names and numbers', () => {
    const t = run({ ...PATH, peerCredentials: () => ({ uid: 0, gid: 0 }) });
    expect(values(t)).toEqual(['root', 'root', '0', '0']);
    expect(t.log.of('VCL_Error')).toEqual([]);
  });

  it('logs and continues where the listener is no Unix socket', () => {
    const t = run({ peerCredentials: () => ({ uid: 0, gid: 0 }) });
    expect(values(t)).toEqual(['', '', '-1', '-1']);
    expect(t.log.of('VCL_Error')).toEqual(
      new Array(4).fill('vmod unix error: not listening on a Unix domain socket'),
    );
  });

  it('logs and continues where nobody knows', () => {
    const t = run({ ...PATH, peerCredentials: () => null });
    expect(values(t)).toEqual(['', '', '-1', '-1']);
    expect(t.log.of('VCL_Error')).toHaveLength(4);
  });

  it('has numbers alone for who has no name', () => {
    const t = run({ ...PATH, peerCredentials: () => ({ uid: 4_000_000_001, gid: 4_000_000_002 }) });
    expect(values(t)).toEqual(['', '', '4000000001', '4000000002']);
    expect(t.log.of('VCL_Error')).toHaveLength(2);
  });

  it('refuses vcl_init', () => {
    const t = task('import unix; sub vcl_init { if (unix.uid() == 0) { return (ok); } }');
    expect(t.run('init')).toBe('fail');
    expect(t.ctx.failure).toBe('vmod unix failure: may not be called in vcl_init or vcl_fini');
  });
});
