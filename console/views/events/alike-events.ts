// Events that are alike, as one: a thread of a busy machine is held up again and again, each time for another while and
// by other work, and would push all other events out of a short list.

import type { SessionEvent } from '../../model/session/event-log.ts';
import { clock, count } from '../../model/ui/numbers.ts';
import type { ToneLine } from '../../model/ui/panel.ts';

/** Events that are alike, at least one. */
export interface AlikeEvents {
  readonly newest: SessionEvent;
  /** All of them, newest first. */
  readonly all: readonly SessionEvent[];
  /** True of all of them. */
  readonly text: string;
}

const HELD_UP = /^(.* was held up for )(\d+)( ms: .*)$/;

/** The same for events that are alike: those with the same text, and the long turns of a thread. */
export function alikeKey({ kind, text }: SessionEvent): string {
  return `${kind} ${kind === 'turn' ? (HELD_UP.exec(text)?.[1] ?? 'others') : text}`;
}

/** @param newestFirst of one key */
function alike(newestFirst: readonly [SessionEvent, ...SessionEvent[]]): AlikeEvents {
  const [newest] = newestFirst;
  return { newest, all: newestFirst, text: newestFirst.length === 1 ? newest.text : textOf(newestFirst) };
}

function textOf(all: readonly [SessionEvent, ...SessionEvent[]]): string {
  let longest: RegExpExecArray | undefined;
  for (const { kind, text } of all) {
    const turn = kind === 'turn' ? HELD_UP.exec(text) : null;
    if (turn !== null && !(Number(longest?.[2]) >= Number(turn[2]))) longest = turn;
  }
  return longest === undefined ? all[0].text : `${longest[1]}up to ${longest[2]}${longest[3]}`;
}

/** The newest of each key first, at most `limit` of them. */
export function foldAlike(
  newestFirst: Iterable<SessionEvent>,
  limit: number,
  keyOf: (event: SessionEvent) => string = alikeKey,
): AlikeEvents[] {
  const found = new Map<string, [SessionEvent, ...SessionEvent[]]>();
  for (const event of newestFirst) {
    const key = keyOf(event);
    const same = found.get(key);
    if (same !== undefined) same.push(event);
    else if (found.size < limit) found.set(key, [event]);
  }
  return [...found.values()].map(alike);
}

/** Long turns between two other events as one for each thread; all others by themselves. */
export function foldTurns(newestFirst: readonly SessionEvent[]): AlikeEvents[] {
  const out: AlikeEvents[] = [];
  let turns: SessionEvent[] = [];
  const end = (): void => {
    out.push(...foldAlike(turns, turns.length));
    turns = [];
  };
  for (const event of newestFirst) {
    if (event.kind === 'turn') turns.push(event);
    else {
      end();
      out.push(alike([event]));
    }
  }
  end();
  return out;
}

/** Times listed in a detail (chosen). */
const TIMES = 20;

/** "3 times: …"; nothing for one. */
export function timesLines(all: readonly SessionEvent[], utc: boolean): ToneLine[] {
  if (all.length === 1) return [];
  const times = all.slice(0, TIMES).map(({ at }) => clock(at, utc));
  const text = `${count(all.length)} times: ${times.join(', ')}${all.length > TIMES ? ' …' : ''}`;
  return [[{ text, tone: 'muted' }]];
}
