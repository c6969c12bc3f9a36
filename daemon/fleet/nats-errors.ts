// What an error of the client's library says of something that was to be stored: whether it certainly is not. The library
// wraps some of them in others.

import { JetStreamApiCodes, JetStreamApiError } from '@nats-io/jetstream';
import { NoRespondersError, PermissionViolationError } from '@nats-io/transport-node';

export interface StoreFailure {
  readonly state: 'refused' | 'unanswered';
  readonly detail: string;
  /** Whether another try makes sense. */
  readonly again: boolean;
  /** Somebody else has changed the same thing before. */
  readonly raced: boolean;
}

export function failureOf(cause: unknown): StoreFailure {
  const detail = (cause as Error).message;
  const refused = { state: 'refused', detail, again: false, raced: false } as const;
  if (reasonIs(cause, NoRespondersError))
    return { ...refused, detail: 'no server of the bus takes it', again: true };
  if (cause instanceof JetStreamApiError)
    return { ...refused, again: cause.status === 503, raced: RACED.has(cause.code) };
  if (reasonIs(cause, PermissionViolationError)) return refused;
  return { state: 'unanswered', detail, again: true, raced: false };
}

const RACED: ReadonlySet<number> = new Set([
  JetStreamApiCodes.StreamWrongLastSequence,
  JetStreamApiCodes.StreamWrongLastSequenceUnknown,
]);

export function reasonIs(cause: unknown, kind: new (...args: never[]) => Error): boolean {
  return cause instanceof kind || (cause instanceof Error && cause.cause instanceof kind);
}
