// Lost records of a log that several streams read.
import { expect, it } from 'vitest';
import type { LogHandlers, Source } from '../../../../console/client/source.ts';
import { DaemonSession } from '../../../../console/model/session/daemon-session.ts';

it('are counted once, whoever else lost them, and not where only a rate was asked for', () => {
  const streams: LogHandlers[] = [];
  const source: Source = {
    label: 'a log',
    start: () => undefined,
    command: () => Promise.resolve({ status: 0, body: '' }),
    log: (_sub, handlers) => {
      streams.push(handlers);
      return { close: () => undefined };
    },
    setInterval: () => undefined,
    sampleNow: () => undefined,
    close: () => undefined,
  };
  const session = new DaemonSession({ source, now: () => 0, later: () => undefined });
  session.start();
  for (const { lost } of streams) lost(10, 'overrun');
  session.log.follow('', 'request');
  for (const { lost } of streams) lost(5, 'overrun');
  for (const { lost } of streams) lost(1000, 'rate');
  expect(streams.length).toBe(3);
  expect(session.lostRecords).toBe(15);
  session.close();
});
