// A session with a daemon as data: its events and answers with their times. One JSON object, times in seconds from the
// beginning. Counter samples are stored as changes, log records in base64.

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
  /** Index and decimal value of each counter that changed. `at`: epoch seconds at which the source sampled them,
   * before they arrived. */
  | { kind: 'values'; at?: number; changed: [number, string][] }
  /** An answer that differs from the last one to the same line. */
  | { kind: 'answer'; line: string; status: number; body: string }
  /** In memory also unencoded: a log that was never a session. */
  | { kind: 'log'; transactions: (RecordedTransaction | LogTransaction)[] }
  | { kind: 'event'; event: EventWord; text: string; noted?: NotedAs }
);

export interface Recording {
  format: 'proxyd-console-recording/1';
  /** Epoch seconds of its beginning. */
  start: number;
  steps: RecordedStep[];
  /** The first answer to each command line, which also serves for the time before it. */
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

/** Throws an error with a sentence for the operator when the text is no recording. */
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
