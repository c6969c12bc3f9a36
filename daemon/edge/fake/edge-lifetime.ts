// How long the fake edge may keep a response: Edge-Control first, as Akamai has it, and without it what any shared cache
// does by Cache-Control (RFC 9111, 4.2.1, 5.2). Age counts in both: whoever sends it sends lifetimes from the beginning.

/** Names in lower case, values joined with commas. */
export type ReplyFields = Readonly<Record<string, string>>;

/** Seconds of the units that Edge-Control knows. */
const UNITS: Readonly<Record<string, number>> = { '': 1, s: 1, m: 60, h: 3600, d: 86_400 };
const KEPT = new Set([200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501]);

/** Seconds for which a response may be answered from the cache from now on; null: it is not kept. */
export function edgeLifetime(status: number, fields: ReplyFields): number | null {
  if (!KEPT.has(status) || fields.vary?.includes('*') === true) return null;
  const whole = fields['edge-control'] === undefined ? shared(fields) : edgeControl(fields['edge-control']);
  return whole === null ? null : whole - ageOf(fields);
}

/** Seconds that the response says it is old. */
export function ageOf(fields: ReplyFields): number {
  return /^\d{1,9}$/.test(fields.age ?? '') ? Number(fields.age) : 0;
}

function edgeControl(text: string): number | null {
  const words = directives(text);
  if (words.has('no-store') || words.has('bypass-cache')) return null;
  const [, number, unit = ''] = /^(\d{1,9})([smhd]?)$/.exec(words.get('max-age') ?? '') ?? [];
  return number === undefined ? null : Number(number) * (UNITS[unit] as number);
}

function shared(fields: ReplyFields): number | null {
  const words = directives(fields['cache-control'] ?? '');
  if (words.has('private') || words.has('no-store') || words.has('no-cache')) return null;
  if (fields['set-cookie'] !== undefined) return null;
  const said = words.get('s-maxage') ?? words.get('max-age') ?? '';
  return /^\d{1,9}$/.test(said) ? Number(said) : null;
}

function directives(text: string): Map<string, string> {
  return new Map(
    text.split(',').map((word) => {
      const [name = '', value = ''] = word.trim().split('=', 2);
      return [name.toLowerCase(), value.replaceAll('"', '')];
    }),
  );
}
