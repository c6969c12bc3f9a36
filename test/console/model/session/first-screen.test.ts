// The first screen waits for what it shows, whatever comes last.
import { expect, it } from 'vitest';
import type { LogHandlers, Source, SourceEvents } from '../../../../console/client/source.ts';
import { DaemonSession } from '../../../../console/model/session/daemon-session.ts';

type Step = 'values' | 'backends' | 'log without a past' | 'log with a past' | 'past';

/** A session after these steps. */
async function after(steps: readonly Step[]): Promise<boolean> {
  let events: SourceEvents | undefined;
  const logs: LogHandlers[] = [];
  let answer: (() => void) | undefined;
  const source: Source = {
    label: 'made up',
    start: (to) => {
      events = to;
    },
    command: (line) =>
      line === 'backend.list -j'
        ? new Promise((resolve) => {
            answer = () => resolve({ status: 200, body: '[3,[],0,{}]' });
          })
        : Promise.resolve({ status: 101, body: '' }),
    log: (_sub, handlers) => {
      logs.push(handlers);
      return { close: () => undefined };
    },
    setInterval: () => undefined,
    sampleNow: () => undefined,
    close: () => undefined,
  };
  const session = new DaemonSession({ source, now: () => 1000, later: () => undefined });
  session.start();
  events?.connection({ state: 'up', identity: 'x', version: '1' });
  events?.counters([]);
  // The sample is the one that ranks: it wants the past of all requests.
  const sample = logs[1];
  let done: (() => void) | undefined;
  for (const step of steps) {
    if (step === 'values') events?.values(1000, []);
    else if (step === 'backends') answer?.();
    else if (step === 'past') done?.();
    else {
      sample?.ready?.();
      if (step === 'log with a past') {
        const run = sample?.earlier?.();
        done = () => run?.done(true);
      }
    }
    await Promise.resolve();
    await Promise.resolve();
  }
  return session.isFurnished;
}

it.each<[boolean, Step[]]>([
  [false, []],
  [false, ['values', 'backends']],
  [false, ['values', 'log without a past']],
  [true, ['values', 'backends', 'log without a past']],
  [false, ['values', 'backends', 'log with a past']],
  [true, ['values', 'log with a past', 'past', 'backends']],
])('is %s after %j', async (furnished, steps) => {
  expect(await after(steps)).toBe(furnished);
});
