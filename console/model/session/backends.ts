// The backends and directors of `backend.list -j`, with -p their probes and members too. An answer of another shape
// gives an empty list, never an exception in the middle of a frame.

import { answerItems, textField } from './admin-store.ts';

export interface BackendRow {
  /** Program and backend: boot.default. */
  name: string;
  /** `backend`, or the kind of a director. */
  type: string;
  admin: string;
  /** Good probes of the window; null without a probe. */
  probe: { good: number; window: number } | null;
  /** Of a director: its healthy members of all; null of a backend, and where the answer has none. */
  members: { healthy: number; all: number } | null;
  health: 'healthy' | 'sick' | 'unknown';
  /** Epoch seconds. */
  lastChange: number;
  /** Fields that -p adds; {} without it. Of a director `backends` has its members by name. */
  details: Readonly<Record<string, unknown>>;
}

export function parseBackendList(body: string): BackendRow[] {
  const table = answerItems(body)[0];
  return Object.entries(record(table)).flatMap(([name, value]): BackendRow[] => {
    if (typeof value !== 'object' || value === null) return [];
    const row = record(value);
    const admin = textField(row, 'admin_health');
    const type = textField(row, 'type');
    const { counts, health } = readMessage(row.probe_message, admin);
    const probed = type === 'backend';
    return [
      {
        name,
        type,
        admin,
        probe: probed && counts !== null ? { good: counts.good, window: counts.of } : null,
        members: !probed && counts !== null ? { healthy: counts.good, all: counts.of } : null,
        health,
        lastChange: Number(row.last_change ?? 0) || 0,
        details: record(row.probe_details),
      },
    ];
  });
}

/** The name without its program. */
export function shortName(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1);
}

/** Full names of a director's members, which are of its program. */
export function memberNames({ name, details }: BackendRow): string[] {
  const program = name.slice(0, name.lastIndexOf('.') + 1);
  return Object.keys(record(details.backends)).map((member) => program + member);
}

export function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

function readMessage(
  message: unknown,
  admin: string,
): { counts: { good: number; of: number } | null; health: BackendRow['health'] } {
  const parts: unknown[] = Array.isArray(message) ? message : [message];
  const [good, of] = parts.filter((m): m is number => typeof m === 'number');
  const word = parts.find((m) => typeof m === 'string');
  const state = admin === 'sick' || admin === 'healthy' ? admin : word;
  return {
    // 0 of 0 is a backend without a probe, or a director without counts.
    counts: good === undefined || of === undefined || of === 0 ? null : { good, of },
    health: state === 'healthy' || state === 'sick' ? state : 'unknown',
  };
}

/** How many of the newest probes are known to have run, at most `limit`: none before the oldest of which any step is on
 * record. A backend that never answered has no such record: then the window counts. */
export function probesRun({ probe, details }: BackendRow, happy: bigint, limit: number): number {
  let any = happy;
  for (const [field, text] of Object.entries(details))
    if (field.startsWith('bits_') && typeof text === 'string' && /^\d+$/.test(text)) any |= BigInt(text);
  const ran = any === 0n ? (probe?.window ?? 0) : any.toString(2).length;
  return Math.min(limit, ran);
}

/** The tone of a health. Without a connection it is the last known state, neither good nor bad news. */
export function healthTone(health: string, cutOff: boolean): 'bad' | 'good' | 'warn' | 'muted' {
  if (cutOff) return 'muted';
  return health === 'sick' ? 'bad' : health === 'healthy' ? 'good' : 'warn';
}
