// The backends and directors as `backend.list -j` reports them, with -p with what it says of probes and members. The
// answer is read with suspicion: a shape that is not the expected one gives an empty list, never an exception in the
// middle of a frame.

import { answerItems, textField } from './admin-store.ts';

export interface BackendRow {
  /** Program and backend: boot.default. */
  name: string;
  /** `backend`, or the kind of a director. */
  type: string;
  admin: string;
  /** Good probes of the window, or null without a probe. */
  probe: { good: number; window: number } | null;
  /** Of a director: how many of its members are healthy; null of a backend, and where it is not told. */
  members: { healthy: number; all: number } | null;
  health: 'healthy' | 'sick' | 'unknown';
  /** Epoch seconds. */
  lastChange: number;
  /** What -p adds; {} without it. Of a director `backends` are its members by their names. */
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

/** Full names of a director's members: they are of its program. */
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
  const said = admin === 'sick' || admin === 'healthy' ? admin : word;
  return {
    // 0 of 0 is a backend without a probe, or a director that says nothing of its members.
    counts: good === undefined || of === undefined || of === 0 ? null : { good, of },
    health: said === 'healthy' || said === 'sick' ? said : 'unknown',
  };
}

/** How a health is drawn. Without a connection it is what was heard last, which looks like no news, good or bad. */
export function healthTone(health: string, cutOff: boolean): 'bad' | 'good' | 'warn' | 'muted' {
  if (cutOff) return 'muted';
  return health === 'sick' ? 'bad' : health === 'healthy' ? 'good' : 'warn';
}
