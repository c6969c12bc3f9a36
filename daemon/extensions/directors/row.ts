// The row of a director in backend.list, and the table of its members that -p adds. Cells of the text form are
// separated by tabs; the caller aligns them.

import type { AdminHealth, Director, DirectorListing } from '../../contract/context.ts';
import { healthEpoch } from '../../contract/health-epoch.ts';

/** One member of a director as backend.list -p shows it. */
export interface MemberRow {
  readonly director: Director;
  /** Cells after the name. */
  readonly cells: readonly string[];
  /** Lines of its JSON object, without commas. */
  readonly json: readonly string[];
}

/** Data of a row. `now` is epoch seconds. */
export interface RowSource {
  readonly type: string;
  /** Titles of the columns after the name; null if the row shows nothing of its members, not even their health. */
  readonly columns: readonly string[] | null;
  directors(): Iterable<Director>;
  counts(now: number): { good: number; total: number };
  /** The current members, generated one by one. */
  rows(now: number): Iterable<MemberRow>;
  /** Lines of probe_details before the members, without commas. */
  facts(now: number): string[];
}

export class DirectorRow implements DirectorListing {
  readonly type: string;
  private readonly source: RowSource;
  private ownAdmin: AdminHealth = 'auto';
  private ownChange: number;
  /** A director may contain itself. */
  private asked = false;

  /** @param now epoch seconds */
  constructor(source: RowSource, now: number) {
    this.type = source.type;
    this.source = source;
    this.ownChange = now;
  }

  get admin(): AdminHealth {
    return this.ownAdmin;
  }

  set admin(admin: AdminHealth) {
    this.ownAdmin = admin;
    healthEpoch.changed();
  }

  /** The latest change of the director or of a listed member. */
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
    return this.source.columns === null ? null : this.source.counts(now);
  }

  *text(now: number): Generator<string> {
    const { columns } = this.source;
    if (columns === null) return;
    yield '';
    yield ['', 'Backend', ...columns].join('\t');
    for (const { director, cells } of this.source.rows(now))
      yield ['', director.vclName, ...cells].join('\t');
    yield '';
  }

  json(now: number): Iterable<string> | null {
    return this.source.columns === null ? null : this.jsonPieces(now);
  }

  private *jsonPieces(now: number): Generator<string> {
    const head = [...this.source.facts(now), '"backends": {'].map((line) => `        ${line}`);
    yield `{\n${head.join(',\n')}\n          `;
    let before = '';
    for (const { director, json } of this.source.rows(now)) {
      const lines = json.map((line) => `            ${line}`).join(',\n');
      yield `${before}${JSON.stringify(director.vclName)}: {\n${lines}\n          }`;
      before = ',\n          ';
    }
    yield '\n        }\n      }';
  }
}

export function healthWord(director: Director, now: number): 'healthy' | 'sick' {
  return director.healthy(now) ? 'healthy' : 'sick';
}
