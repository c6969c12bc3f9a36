// The schedule of probes: first polls run at once while there are few, and are spread over time when many start
// together. Probes that had to wait make their second poll early, each by a share of its interval: from then on a
// thousand probes of one program are spread over the whole interval, and each keeps its own rhythm. Polls that are due
// close together run in one turn: waking the process costs more than a poll.

import { LowestFirst } from '../lowest-first.ts';
import { turns } from '../turns/turns.ts';

/** First polls that may run at the same time (chosen). */
const AT_ONCE = 16;
/** Seconds between further first polls (chosen). */
const APART = 0.002;
/** Largest share of an interval by which a second poll comes early (chosen). */
const EARLY = 0.9;
/** The golden ratio: its multiples modulo 1 are evenly spread, however many there are. */
const GOLDEN = 0.618033988749895;

/** Milliseconds to which the times of polls are rounded (chosen: half the CPU of polls in a turn each), and the largest
 * part of an interval, so that a short one stays exact. */
const GRAIN = 100;
const GRAIN_SHARE = 0.02;
/** Polls begun in one turn, so that traffic does not wait longer (chosen: about a millisecond). */
const A_TURN = 16;
/** Milliseconds by which timers may fire early: they count whole ones. */
const TIMER_EARLY = 1;

export interface Scheduled {
  beat(): void;
}

export class ProbeSchedule {
  /** Time of the last slot given, in seconds of any one clock. */
  private slot = 0;
  private share = 0;
  /** Probes by due time, in milliseconds of the steady clock. */
  private readonly due = new Map<number, Set<Scheduled>>();
  /** All times in `due`, and some that are past. */
  private readonly moments = new LowestFirst();
  private timer: NodeJS.Timeout | undefined;
  /** Due time of the timer; fire() sets none while it runs. */
  private waking = Number.POSITIVE_INFINITY;

  /** Seconds from `now` until the first poll of a probe that starts now. */
  first(now: number): number {
    this.slot = Math.max(now, this.slot + APART);
    return Math.max(0, this.slot - now - AT_ONCE * APART);
  }

  /** Seconds from the first poll of a probe to its second; `waited` is the result of first(). */
  second(interval: number, waited: number): number {
    if (waited <= 0) return interval;
    this.share = (this.share + GOLDEN) % 1;
    return interval * (1 - EARLY * this.share);
  }

  /** Calls `beat()` of a probe once, in `wait` seconds. Returns the due time, for cancel(). */
  at(probe: Scheduled, wait: number): number {
    return this.put(probe, Math.round(performance.now() + wait * 1000));
  }

  /** Like at(), rounded so that several probes share a due time. */
  inRhythm(probe: Scheduled, wait: number): number {
    const grain = Math.max(1, Math.min(GRAIN, Math.round(wait * 1000 * GRAIN_SHARE)));
    return this.put(probe, Math.round((performance.now() + wait * 1000) / grain) * grain);
  }

  cancel(probe: Scheduled, moment: number): void {
    this.due.get(moment)?.delete(probe);
  }

  private put(probe: Scheduled, moment: number): number {
    const others = this.due.get(moment);
    if (others !== undefined) others.add(probe);
    else {
      this.due.set(moment, new Set([probe]));
      this.moments.push(moment);
    }
    this.wakeAt(moment);
    return moment;
  }

  private wakeAt(moment: number): void {
    if (moment >= this.waking) return;
    clearTimeout(this.timer);
    this.waking = moment;
    this.timer = setTimeout(this.fire, Math.max(1, Math.ceil(moment - performance.now())));
  }

  private readonly fire = (): void => {
    const until = performance.now() + TIMER_EARLY;
    let left = A_TURN;
    for (let moment = this.next(); moment <= until; moment = this.next()) {
      for (const probe of this.due.get(moment) as Set<Scheduled>) {
        // At least one poll per turn.
        if (left-- === 0 || (left < A_TURN - 1 && !turns.mayContinue())) {
          turns.later(this.fire);
          return;
        }
        this.due.get(moment)?.delete(probe);
        probe.beat();
      }
      this.due.delete(moment);
    }
    const next = this.next();
    this.waking = Number.POSITIVE_INFINITY;
    if (next < this.waking) this.wakeAt(next);
  };

  /** The next due time; infinity without any. */
  private next(): number {
    const { moments, due } = this;
    while (moments.first !== undefined && !due.has(moments.first)) moments.pop();
    return moments.first ?? Number.POSITIVE_INFINITY;
  }
}
