// The row of a director in backend.list, and the table of its members that -p puts below it. Cells of the text
// form are parted by tabs; whoever prints the list aligns them.

import type { AdminHealth, Director, DirectorListing } from '../../contract/context.ts';

/** One member of a director as backend.list -p shows it. */
export interface MemberRow {
  readonly director: Director;
  /** Cells behind the name. */
  readonly cells: readonly string[];
  /** Lines of its JSON object, without commas. */
  readonly json: readonly string[];
}

/** What a row shows. `now` is epoch seconds. */
export interface RowSource {
  readonly type: string;
  /** Titles of the columns behind the name; null when it shows nothing of its members, not even their health. */
  readonly columns: readonly string[] | null;
  directors(): Iterable<Director>;
  rows(now: number): MemberRow[];
  /** Lines of probe_details before the members, without commas. */
  facts(now: number): string[];
}

export class DirectorRow implements DirectorListing {
  readonly type: string;
  admin: AdminHealth = 'auto';
  private readonly source: RowSource;
  private ownChange: number;
  /** A director may be below itself. */
  private asked = false;

  /** @param now epoch seconds */
  constructor(source: RowSource, now: number) {
    this.type = source.type;
    this.source = source;
    this.ownChange = now;
  }

  /** A director changes with its members, as far as it shows them. */
  get changedAt(): number {
    if (this.asked || this.source.columns === null) return this.ownChange;
    this.asked = true;
    let last = this.ownChange;
    for (const { listed } of this.source.directors()) {
      if (listed !== null && listed.changedAt > last) last = listed.changedAt;
    }
    this.asked = false;
    return last;
  }

  set changedAt(at: number) {
    this.ownChange = at;
  }

  measured(now: number): boolean {
    const counts = this.counts(now);
    return counts === null || counts.good > 0;
  }

  counts(now: number): { good: number; total: number } | null {
    if (this.source.columns === null) return null;
    const rows = this.source.rows(now);
    return { good: rows.filter((r) => r.director.healthy(now)).length, total: rows.length };
  }

  text(now: number): string {
    const { columns } = this.source;
    if (columns === null) return '';
    const lines = this.source.rows(now).map((r) => ['', r.director.vclName, ...r.cells].join('\t'));
    return ['', ['', 'Backend', ...columns].join('\t'), ...lines, '', ''].join('\n');
  }

  json(now: number): string | null {
    if (this.source.columns === null) return null;
    const members = this.source
      .rows(now)
      .map((r) => `${JSON.stringify(r.director.vclName)}: ${object(r.json, '          ')}`);
    const backends = `"backends": {\n          ${members.join(',\n          ')}\n        }`;
    return object([...this.source.facts(now), backends], '      ');
  }
}

/** An object whose closing brace stands at `indent`. */
function object(lines: readonly string[], indent: string): string {
  return `{\n${lines.map((l) => `${indent}  ${l}`).join(',\n')}\n${indent}}`;
}

export function healthWord(director: Director, now: number): 'healthy' | 'sick' {
  return director.healthy(now) ? 'healthy' : 'sick';
}
