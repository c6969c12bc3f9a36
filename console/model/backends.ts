// The backends as `backend.list -j` reports them. The answer is read with suspicion: a shape that is not the
// expected one gives an empty list, never an exception in the middle of a frame.

export interface BackendRow {
  /** Program and backend: boot.default. */
  name: string;
  type: string;
  admin: string;
  /** Good probes of the window, or null without a probe. */
  probe: { good: number; window: number } | null;
  health: 'healthy' | 'sick' | 'unknown';
  /** Epoch seconds. */
  lastChange: number;
}

export function parseBackendList(body: string): BackendRow[] {
  let answer: unknown;
  try {
    answer = JSON.parse(body);
  } catch {
    return [];
  }
  if (!Array.isArray(answer)) return [];
  const table: unknown = answer[3];
  if (typeof table !== 'object' || table === null) return [];
  const rows: BackendRow[] = [];
  for (const [name, value] of Object.entries(table)) {
    if (typeof value !== 'object' || value === null) continue;
    const row = value as Record<string, unknown>;
    const admin = String(row.admin_health ?? '');
    const { probe, health } = readProbe(row.probe_message, admin);
    rows.push({
      name,
      type: String(row.type ?? ''),
      admin,
      probe,
      health,
      lastChange: Number(row.last_change ?? 0) || 0,
    });
  }
  return rows;
}

function readProbe(message: unknown, admin: string): Pick<BackendRow, 'probe' | 'health'> {
  const forced = admin === 'sick' ? 'sick' : admin === 'healthy' ? 'healthy' : null;
  if (Array.isArray(message)) {
    const numbers = message.filter((m): m is number => typeof m === 'number');
    const word = message.find((m) => typeof m === 'string');
    const [good, window] = numbers;
    return {
      // A window of 0 is a backend without a probe.
      probe: good === undefined || window === undefined || window === 0 ? null : { good, window },
      health: forced ?? (word === 'healthy' ? 'healthy' : word === 'sick' ? 'sick' : 'unknown'),
    };
  }
  const word = typeof message === 'string' ? message : '';
  return {
    probe: null,
    health: forced ?? (word === 'healthy' ? 'healthy' : word === 'sick' ? 'sick' : 'unknown'),
  };
}
