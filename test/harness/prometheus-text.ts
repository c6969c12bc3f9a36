// A strict parser of Prometheus' text format, version 0.0.4: it accepts what the specification allows and rejects
// everything else, line by line, with the reason. All samples of a metric follow its HELP and TYPE, no sample is
// repeated, and counters are named as such.

export interface MetricFamily {
  type: string;
  help: string;
  samples: { labels: Record<string, string>; value: string }[];
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const LABEL = '[a-zA-Z_][a-zA-Z0-9_]*';
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(.*)\\})? (\\S+)$`);
const NUMBER = /^(?:[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|[-+]?Inf|NaN)$/i;

/** Families by name, in order. Throws an Error that names the line. */
export function parsePrometheus(text: string): Map<string, MetricFamily> {
  const families = new Map<string, MetricFamily>();
  const seen = new Set<string>();
  let current = '';
  if (!text.endsWith('\n')) throw new Error('the last line has no end');
  for (const [i, line] of text.slice(0, -1).split('\n').entries()) {
    const fail = (why: string): never => {
      throw new Error(`line ${i + 1}: ${why}: ${line}`);
    };
    if (/[^\x20-\x7e]/.test(line)) fail('not plain text');
    const meta = new RegExp(`^# (HELP|TYPE) (${NAME}) (.+)$`).exec(line);
    if (meta !== null) {
      const [, kind, name, rest] = meta as unknown as [string, string, string, string];
      if (kind === 'HELP') {
        if (families.has(name)) fail('a second HELP');
        if (/\\(?![\\n])/.test(rest)) fail('an escape that is none');
        families.set(name, { type: '', help: rest, samples: [] });
        current = name;
        continue;
      }
      const family = families.get(name);
      if (family === undefined || current !== name) return fail('TYPE without its HELP ahead');
      if (family.type !== '' || family.samples.length > 0) fail('a second TYPE, or one behind samples');
      if (!['counter', 'gauge'].includes(rest)) fail('no type');
      if ((rest === 'counter') !== name.endsWith('_total')) fail('a name that does not fit its type');
      family.type = rest;
      continue;
    }
    const sample = SAMPLE.exec(line);
    if (sample === null) return fail('neither HELP nor TYPE nor a sample');
    const [, name, labels, value] = sample as unknown as [string, string, string | undefined, string];
    const family = families.get(name);
    if (family === undefined || current !== name || family.type === '')
      return fail('a sample out of its place');
    if (!NUMBER.test(value)) fail('no number');
    const key = `${name}{${labels ?? ''}}`;
    if (seen.has(key)) fail('a sample that comes twice');
    seen.add(key);
    family.samples.push({ labels: parseLabels(labels ?? '', fail), value });
  }
  for (const [name, family] of families) {
    if (family.samples.length === 0) throw new Error(`${name} has no sample`);
  }
  return families;
}

function parseLabels(text: string, fail: (why: string) => never): Record<string, string> {
  const out: Record<string, string> = {};
  const pair = new RegExp(`(${LABEL})="((?:[^"\\\\\\n]|\\\\[\\\\"n])*)"(?:,|$)`, 'y');
  while (pair.lastIndex < text.length) {
    const match = pair.exec(text) ?? fail('bad labels');
    const [, name, value] = match as unknown as [string, string, string];
    if (name in out) fail('a label that comes twice');
    out[name] = value.replace(/\\(.)/g, (_all, c: string) => (c === 'n' ? '\n' : c));
  }
  return out;
}
