// Rings the terminal's bell for an event that is trouble, if the operator wants that: once for all events since it was last
// checked, and for none from before the console was started.

import type { SessionEvent } from '../../model/session/event-log.ts';
import { isRecovery, isTrouble } from './event-tones.ts';

export class Bell {
  private readonly ring: () => void;
  private readonly seen: WeakSet<SessionEvent> = new WeakSet();
  private readonly start: number;

  /** @param start epoch seconds */
  constructor(ring: () => void, start: number) {
    this.ring = ring;
    this.start = start;
  }

  /** @param events the oldest first @param wanted whether to ring for new ones */
  check(events: readonly SessionEvent[], wanted: boolean): void {
    let rings = false;
    for (let i = events.length - 1; i >= 0; i--) {
      const event = events[i] as SessionEvent;
      if (event.at < this.start) break;
      if (this.seen.has(event)) continue;
      this.seen.add(event);
      if (isTrouble(event.kind) && !isRecovery(event)) rings = true;
    }
    if (rings && wanted) this.ring();
  }
}
