// A session with a daemon as data: what came from it, when, and what it answered. JSON, one object, times
// in seconds from its beginning. Counter samples are kept as changes, log records in base64.

import type { CounterInfo, LogTransaction } from '../../../protocol/messages.ts';
import type { EventWord, NotedAs } from '../../client/source.ts';

export interface RecordedTransaction extends Omit<LogTransaction, 'records'> {
  /** The records in base64. */
  records: string;
}

export type RecordedStep = { after: number } & (
  | { kind: 'up'; identity: string; version: string }
  | { kind: 'down'; reason: string }
  | { kind: 'counters'; info: CounterInfo[] }
  /** Index and decimal value of each counter that changed. `at`: when the source took them, in epoch seconds, which is
   * before they came. */
  | { kind: 'values'; at?: number; changed: [number, string][] }
  /** An answer that differs from the one before to the same command line. */
  | { kind: 'answer'; line: string; status: number; body: string }
  /** In memory also as they are: a log that was never a session. */
  | { kind: 'log'; transactions: (RecordedTransaction | LogTransaction)[] }
  | { kind: 'event'; event: EventWord; text: string; noted?: NotedAs }
);

export interface Recording {
  format: 'proxyd-console-recording/1';
  /** Epoch seconds of its beginning. */
  start: number;
  steps: RecordedStep[];
  /** The first answer to each command line, which stands for the time before it, too. */
  commands: Record<string, { status: number; body: string }>;
}

export function encodeTransaction(tx: LogTransaction): RecordedTransaction {
  return { ...tx, records: Buffer.from(tx.records).toString('base64') };
}

export function decodeTransaction(tx: RecordedTransaction | LogTransaction): LogTransaction {
  const { records } = tx;
  return {
    ...tx,
    records: typeof records === 'string' ? new Uint8Array(Buffer.from(records, 'base64')) : records,
  };
}

/** Throws a plain sentence for anything that is not a recording. */
export function parseRecording(text: string): Recording {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new Error('neither a recording of the console nor a log of proxylog', { cause });
  }
  const format =
    typeof value === 'object' && value !== null ? (value as { format?: unknown }).format : undefined;
  if (format !== 'proxyd-console-recording/1') throw new Error('not a console recording of this version');
  return value as Recording;
}
