// Reads the text of `varnishlog -g session` / `proxylog -g session` back into transactions, and normalises
// it: transaction ids by order of appearance, times, ports, descriptors, dates and the products' names
// become letters, so that two runs of the same exchange give the same text. It hides nothing else; what
// differs after this is a difference.
//
// Byte counts of a head that carries X-Varnish/X-Proxy-Id or Via depend on names and on the digits of ids:
// these become H; body counts stay.

export interface LogRecord {
  tag: string;
  data: string;
}

export interface Transaction {
  level: number;
  kind: string;
  id: number;
  records: LogRecord[];
}

/** Groups (separated by empty lines) of transactions. */
export function parseGroups(text: string): Transaction[][] {
  const groups: Transaction[][] = [];
  let group: Transaction[] = [];
  let current: Transaction | null = null;
  for (const line of text.split('\n')) {
    if (line === '') {
      if (group.length > 0) groups.push(group);
      group = [];
      current = null;
      continue;
    }
    const head = /^(\*+|\*\d+\*)\s+<<\s*(\S+)\s*>>\s+(\d+)/.exec(line);
    if (head !== null) {
      const stars = head[1] ?? '';
      const level = /\d/.test(stars) ? Number(stars.slice(1, -1)) : stars.length;
      current = { level, kind: head[2] ?? '', id: Number(head[3]), records: [] };
      group.push(current);
      continue;
    }
    const record = /^(?:-+|-\d+-) +(\S+) */.exec(line);
    if (record === null || current === null) throw new Error(`not a log line: ${JSON.stringify(line)}`);
    // The tag is padded to 14 columns and one blank; a longer tag has one blank.
    const start = line.indexOf(record[1] ?? '', 1);
    const tag = record[1] ?? '';
    current.records.push({ tag, data: line.slice(start + Math.max(15, tag.length + 1)) });
  }
  if (group.length > 0) groups.push(group);
  return groups;
}

/** Port of the client of a session group, from its SessOpen record. */
export function clientPort(group: readonly Transaction[]): number | null {
  const open = group[0]?.records.find((r) => r.tag === 'SessOpen');
  const port = open?.data.split(' ')[1];
  return port === undefined ? null : Number(port);
}

/** True when the log tool gave the group up before it was complete. */
export function isFlushed(group: readonly Transaction[]): boolean {
  return group.some((t) => t.records.some((r) => r.tag === 'VSL'));
}

/** Names transaction ids x1, x2, … in the order in which a case mentions them. */
export class IdNames {
  readonly #names = new Map<string, string>();

  name(id: string): string {
    const known = this.#names.get(id);
    if (known !== undefined) return known;
    const name = `x${this.#names.size + 1}`;
    this.#names.set(id, name);
    return name;
  }
}

const IMF_DATE = /(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT/g;

/** Masks differences between heads and the log: dates, product names, ids in the id header. */
export function normaliseText(text: string, ids: IdNames): string {
  return text
    .replace(IMF_DATE, 'DATE')
    .replace(/X-(?:Varnish|Proxy-Id): ([\d ]+)/gi, (_, list: string) => {
      return `X-Proxy-Id: ${list
        .trim()
        .split(' ')
        .map((id) => ids.name(id))
        .join(' ')}`;
    })
    .replace(/1\.1 \S+ \((?:Varnish|proxyd)\/[\d.]+\)/g, '1.1 NAME (PROXY)')
    .replace(/^(Server: )(?:Varnish|proxyd)$/gim, '$1PROXY');
}

/** The fields of a record by tag: each row says which blank-separated words become a letter. */
const WORDS: Record<string, (words: string[], ids: IdNames) => string[]> = {
  Begin: (w, ids) => [w[0] ?? '', w[1] === '0' ? '0' : ids.name(w[1] ?? ''), ...w.slice(2)],
  Link: (w, ids) => [w[0] ?? '', ids.name(w[1] ?? ''), ...w.slice(2)],
  // Remaining lifetimes count down while the test runs, on a busy machine by several seconds. The words after the
  // lifetimes are only there while the object is being fetched.
  Hit: (w, ids) => [ids.name(w[0] ?? ''), left(w[1] ?? ''), ...w.slice(2, 4).map(ceil)],
  HitMiss: (w, ids) => [ids.name(w[0] ?? ''), ...w.slice(1).map(left)],
  HitPass: (w, ids) => [ids.name(w[0] ?? ''), ...w.slice(1).map(left)],
  SessOpen: (w) => [w[0] ?? '', 'PORT', w[2] ?? '', w[3] ?? '', 'PORT', 'TIME', 'FD'],
  SessClose: (w) => [w[0] ?? '', 'DUR'],
  ReqStart: (w) => [w[0] ?? '', 'PORT', w[2] ?? ''],
  BackendOpen: (w) => ['FD', w[1] ?? '', w[2] ?? '', 'PORT', w[4] ?? '', 'PORT', ...w.slice(6)],
  BackendReuse: (w) => ['FD', ...w.slice(1)],
  BackendClose: (w) => ['FD', ...w.slice(1)],
  BackendStart: (w) => [w[0] ?? '', 'PORT'],
  Timestamp: (w) => [w[0] ?? '', 'TIME', 'DUR', 'DUR'],
  TTL: (w) => w.map((word) => (/^\d{10}$/.test(word) ? 'TIME' : word)),
  // header, body, total; received first. The sent head holds ids and names.
  ReqAcct: (w) => [w[0] ?? '', w[1] ?? '', w[2] ?? '', 'H', w[4] ?? '', 'H'],
  BereqAcct: (w) => ['H', w[1] ?? '', 'H', w[3] ?? '', w[4] ?? '', w[5] ?? ''],
  PipeAcct: (w) => [w[0] ?? '', 'H', w[2] ?? '', w[3] ?? ''],
  // Lengths of data compressed here depend on the compressor, as do those decompressed from it; for data that arrived
  // compressed block positions are logged, for long bodies not by us.
  Gzip: (w) => {
    if (w[0] === 'G') return [...w.slice(0, 4), 'SIZE', w[5] ?? ''];
    return w[1] === 'D' || Number(w[3]) > 16_384 ? w.slice(0, 5) : w;
  },
  ExpKill: () => ['*'],
  ExpBan: (w, ids) => [ids.name(w[0] ?? ''), ...w.slice(1)],
};

function ceil(word: string): string {
  return /^-?\d+\.\d+$/.test(word) ? String(Math.ceil(Number(word))) : word;
}

/** Rounded up to tens of seconds; what is shorter than a few seconds may be over, or not, as the machine is busy. */
function left(word: string): string {
  const seconds = Number(ceil(word));
  return seconds > 5 ? String(Math.ceil(seconds / 10) * 10) : 'FEW';
}

export function normaliseRecord(record: LogRecord, ids: IdNames): LogRecord {
  const row = WORDS[record.tag];
  const data = row === undefined ? record.data : row(record.data.split(' '), ids).join(' ');
  return { tag: record.tag, data: normaliseText(data, ids) };
}

/** A whole group as normalised lines. */
export function normaliseGroup(group: readonly Transaction[], ids: IdNames): string[] {
  const lines: string[] = [];
  for (const t of group) {
    lines.push(`${'*'.repeat(t.level)} ${t.kind} ${ids.name(String(t.id))}`);
    for (const record of t.records) {
      const { tag, data } = normaliseRecord(record, ids);
      lines.push(`${'-'.repeat(t.level)} ${tag} ${data}`);
    }
  }
  return lines;
}
