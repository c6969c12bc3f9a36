import type { ChildProcess } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { expect, it, vi } from 'vitest';
import { WorkerProcess } from '../../../../daemon/manager/process/worker-process.ts';
import { Params } from '../../../../daemon/params/parameter-set.ts';

function fake() {
  const child = Object.assign(new EventEmitter(), { pid: 7, connected: true });
  const seen: string[] = [];
  const worker = new WorkerProcess(child as unknown as ChildProcess, new Params(), {
    onMessage: (_, message) => seen.push(message.t),
    onLateStart: () => {},
    onHang: () => {},
  });
  worker.onExit((code, signal) => seen.push(`exit ${code} ${signal}`));
  const disconnect = () => {
    child.connected = false;
    child.emit('disconnect');
  };
  return { child, worker, seen, disconnect };
}

it('has exited when its last messages were received, in whatever order the system reports them', () => {
  const { child, worker, seen, disconnect } = fake();
  child.emit('exit', 70, null);
  child.emit('message', { t: 'trouble', text: 'no memory' });
  child.emit('message', { t: 'panic', text: 'Assert error' });
  expect(seen).toEqual(['trouble']);
  expect(worker.panic).toBe('Assert error');
  disconnect();
  expect(seen).toEqual(['trouble', 'exit 70 null']);
});

it('has exited at once if its channel was closed before', () => {
  const { child, seen, disconnect } = fake();
  disconnect();
  child.emit('exit', null, 'SIGKILL');
  expect(seen).toEqual(['exit null SIGKILL']);
});

it('does not wait for ever for a channel that another process holds open', () => {
  vi.useFakeTimers();
  try {
    const { child, seen, disconnect } = fake();
    child.emit('exit', 1, null);
    expect(seen).toEqual([]);
    vi.advanceTimersByTime(1000);
    expect(seen).toEqual(['exit 1 null']);
    disconnect();
    expect(seen).toHaveLength(1);
  } finally {
    vi.useRealTimers();
  }
});
