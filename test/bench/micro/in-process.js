// A worker and a client's session inside the measuring process, from dist/: run `npm run build` first.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const { Worker } = await import('../../../dist/modules/daemon/worker/worker.js');
const { carryOut } = await import('../../../dist/modules/daemon/worker/carry-out.js');
const { Session } = await import('../../../dist/modules/daemon/net/session.js');
const { requestMachine } = await import('../../../dist/modules/daemon/request/request-machine.js');
const { compile } = await import('../../../dist/modules/daemon/extensions/compile-with-builtins.js');

/** A worker that serves under this program; `close` removes what it left. */
export async function startWorker(text) {
  const dir = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'in-process-'));
  const { program } = compile({ name: 'bench', text });
  const worker = new Worker(
    {
      t: 'init',
      dir,
      identity: 'bench',
      params: {},
      storages: [{ name: 's0', kind: 'malloc', size: 64 << 20 }],
      listeners: [],
      programs: [{ name: 'boot', program, state: 'auto' }],
      active: 'boot',
      generation: 0,
    },
    () => {},
  );
  await worker.start((call) => carryOut(worker, call));
  return { worker, close: () => rmSync(dir, { recursive: true, force: true }) };
}

/** A session whose client takes everything; `written` is called after each response in one piece. */
export function openSession(worker, written = () => {}) {
  const wire = {
    remote: { address: '127.0.0.1', port: 12345 },
    local: { address: '127.0.0.1', port: 80 },
    fd: 20,
    isGone: false,
    isSending: false,
    queued: 0,
    write() {
      written();
      return 'more';
    },
    flushed() {},
    pause() {},
    resume() {},
    destroy() {},
    reset() {},
    end() {},
  };
  const endpoint = { name: 'a0', socketText: ':80', proxy: false };
  return new Session(worker, { sessionClosed() {} }, wire, endpoint, requestMachine);
}
