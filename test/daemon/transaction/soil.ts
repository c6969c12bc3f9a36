// Changes whatever a program or a step could have changed of an object: what a new one has to be free of.
import { HttpMessage } from '../../../daemon/http1/message.ts';

/** Changes every field: numbers, switches and texts get another value, lists another member, and what is null a text. */
export function soil(object: object): void {
  soilOnce(object, new Set());
}

function soilOnce(object: object, seen: Set<object>): void {
  if (seen.has(object)) return;
  seen.add(object);
  if (object instanceof HttpMessage) object.push('x-dirt', 'X-Dirt: 1');
  for (const [name, value] of Object.entries(object)) {
    if (name === 'base') continue;
    // A list that others may share is left to them.
    if (Array.isArray(value)) Object.assign(object, { [name]: [...value, 'dirt'] });
    else if (typeof value === 'object' && value !== null) {
      // The shared one is copied before a change: other tests use the same one.
      const own = Object.isFrozen(value) ? { ...value } : value;
      if (own !== value) Object.assign(object, { [name]: own });
      soilOnce(own, seen);
    } else if (typeof value !== 'function') Object.assign(object, { [name]: dirt(value) });
  }
}

/** The fields of an object, its messages as far as anybody looks: arrays and offsets beyond what is in use are left
 * out. */
export function visible(object: object): Record<string, unknown> {
  const entries = Object.entries(object).filter(([, value]) => typeof value !== 'function');
  return Object.fromEntries(
    entries.map(([name, value]) => [name, value instanceof HttpMessage ? shown(value) : value]),
  );
}

function shown(message: HttpMessage): object {
  const { n, raw } = message;
  const lent = raw === null ? { rawFrom: 0, rawWhole: 0 } : {};
  return { ...message, keys: message.keys.slice(0, n), lines: message.lines.slice(0, n), ...lent };
}

function dirt(value: unknown): unknown {
  if (typeof value === 'number') return value + 77;
  return typeof value === 'boolean' ? !value : 'dirt';
}
