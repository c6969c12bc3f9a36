// Streams the client's body to the origin. A body that fails midway cuts the origin connection: the origin must
// never take half a body for a whole one (SAFETY rule 3).

import type { FetchFailure } from '../../protocol/tables/close-reasons.ts';
import type { OriginConnection } from '../backend/connection.ts';
import { Deadline } from '../backend/deadline.ts';
import type { BodySource } from '../transaction/request-body.ts';

/**
 * Resolves to null when all of it was handed over, or the origin stopped to take it; else to what went wrong.
 * @param patience seconds that the origin may take nothing
 */
export function sendBody(
  to: OriginConnection,
  body: BodySource,
  patience: number,
): Promise<FetchFailure | null> {
  return new Promise((settle) => {
    const stalled = new Deadline(() => {
      body.abandon();
      resolve('first-byte-timeout');
    });
    const resolve = (failure: FetchFailure | null): void => {
      stalled.stop();
      settle(failure);
    };
    const over = (): boolean => {
      if (to.isOpen && !to.answered) return false;
      // An origin that has answered or gone does not want the rest.
      body.abandon();
      resolve(null);
      return true;
    };
    to.onDrain = () => {
      stalled.stop();
      if (!over()) body.resume();
    };
    body.start({
      data: (buf, start, end) => {
        if (over() || to.write(buf, start, end)) return;
        body.pause();
        stalled.start(patience);
      },
      end: () => resolve(null),
      error: () => resolve('request-body'),
    });
  });
}
