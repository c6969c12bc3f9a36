// The scheduling policy of the worker's threads: SCHED_BATCH for several, unchanged for a single one, and never in place of an
// operator's choice.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { delay, Sandbox, until } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';

const [OTHER, REAL_TIME, BATCH] = ['0', '2', '3'];
const CHRT = '/usr/bin/chrt';
const box = new Sandbox('proxyd-scheduling');
let proxy: RunningProxy;

const start = async (threads: string): Promise<void> => {
  proxy = await startProxy(box, { program: backendProgram(9), params: { worker_threads: threads } });
};

/** The policies of all threads of a process, each once (proc(5): the field 41). */
function policies(pid: number): string[] {
  const found = readdirSync(`/proc/${pid}/task`).map((task) => {
    const stat = readFileSync(`/proc/${pid}/task/${task}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[38] ?? '';
  });
  return [...new Set(found)];
}

const mayChoose = spawnSync(CHRT, ['--rr', '1', 'true']).status === 0;
if (!mayChoose) console.warn('a policy of the operator is not tried: it takes root and chrt');

afterEach(async () => {
  await proxy.stop();
});
afterAll(() => box.dispose());

describe.skipIf(!existsSync(CHRT))('several threads', () => {
  it('are scheduled as batch, also those of the next worker', async () => {
    await start('2');
    const worker = proxy.workerPid() as number;
    await until('its policy is changed', () => policies(worker).join() === BATCH);
    expect(policies(proxy.pid)).toEqual([OTHER]);
    process.kill(worker, 'SIGKILL');
    await until('the next one serves', () => ![null, worker].includes(proxy.workerPid()));
    const next = proxy.workerPid() as number;
    await until('its policy is changed, too', () => policies(next).join() === BATCH);
  });

  // Children inherit it; a batch process might never start on a busy machine.
  it.skipIf(!mayChoose)('keep what an operator chose', async () => {
    spawnSync(CHRT, ['--rr', '--pid', '1', String(process.pid)]);
    try {
      await start('2');
    } finally {
      spawnSync(CHRT, ['--other', '--pid', '0', String(process.pid)]);
    }
    await delay(500);
    expect(policies(proxy.workerPid() as number)).toEqual([REAL_TIME]);
  });

  it('one thread is left as it is', async () => {
    await start('1');
    await delay(500);
    expect(policies(proxy.workerPid() as number)).toEqual([OTHER]);
  });
});
