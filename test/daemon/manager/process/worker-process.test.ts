import type { ChildProcess } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { expect, it, vi } from 'vitest';
import { WorkerProcess } from '../../../../daemon/manager/process/worker-process.ts';

function fake() {
  const child = Object.assign(new EventEmitter(), { pid: 7, connected: true });
  const seen: string[] = [];
  const worker = new WorkerProcess(child as unknown as ChildProcess, {
    timeouts: () => ({ cli: 60, startup: 0, ping: 3 }),
    onMessage: (_, message) => seen.push(message.t),
    onLateStart: () => {},
    onHang: () => {},
  });
  worker.onExit((code, signal) => seen.push(`exit ${code} ${signal}`));
  const disconnect = () => {
    child.connected = false;
    child.emit('disconnect');
  };
  return { child, seen, disconnect };
}

it('has exited when its last messages were received, in whatever order the system reports them', () => {
  const { child, seen, disconnect } = fake();
  child.emit('exit', 70, null);
  child.emit('message', { t: 'panic', text: 'Assert error' });
  expect(seen).toEqual(['panic']);
  disconnect();
  expect(seen).toEqual(['panic', 'exit 70 null']);
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
