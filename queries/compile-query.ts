// Compiles a checked query to a function over the bytes of a group of transactions. True if each comparison is
// satisfied by some record of some transaction; records are only converted to text for regular expressions and
// caseless comparisons.

import { RecordCursor } from '../protocol/log-record.ts';
import type { CheckedQuery, LevelLimit, RecordMatch, Test } from './check-query.ts';
import { FieldCut } from './field-cut.ts';
import { isBlank, parseRecordNumber } from './number.ts';
import type { NumberOp } from './query-words.ts';

/** The parts of a transaction that a query reads; LogTransaction fits. */
export interface Queried {
  level: number;
  vxid: number;
  records: Uint8Array;
}

export type Matcher = (group: readonly Queried[]) => boolean;

export function compileQuery(q: CheckedQuery): Matcher {
  switch (q.kind) {
    case 'or': {
      const [left, right] = [compileQuery(q.left), compileQuery(q.right)];
      return (g) => left(g) || right(g);
    }
    case 'and': {
      const [left, right] = [compileQuery(q.left), compileQuery(q.right)];
      return (g) => left(g) && right(g);
    }
    case 'not': {
      const inner = compileQuery(q.query);
      return (g) => !inner(g);
    }
    case 'vxid':
      return (g) => g.some((t) => compare(t.vxid, q.op, q.value));
    case 'record':
      return compileRecordMatch(q);
  }
}

function compileRecordMatch(m: RecordMatch): Matcher {
  const { level, tags, field } = m;
  const prefix = m.prefix === null ? null : Buffer.from(m.prefix, 'latin1');
  const test = compileTest(m.test);
  const cut = new FieldCut();
  const cursor = new RecordCursor(new Uint8Array());
  return (group) => {
    for (const t of group) {
      if (level !== null && !inLevel(t.level, level)) continue;
      const b = t.records;
      cursor.over(b);
      while (cursor.next()) {
        if (tags[cursor.tag] === 0) continue;
        let { from, to } = cursor;
        if (prefix !== null) {
          from = afterPrefix(b, from, to, prefix);
          if (from < 0) continue;
        }
        if (field > 0) {
          if (!cut.find(b, from, to, field)) continue;
          from = cut.from;
          to = cut.to;
        }
        if (test(b, from, to)) return true;
      }
    }
    return false;
  };
}

/** Offset of the content after `prefix:` and blanks, or -1. */
function afterPrefix(b: Uint8Array, from: number, to: number, prefix: Uint8Array): number {
  if (to - from <= prefix.length || b[from + prefix.length] !== 58) return -1;
  for (let i = 0; i < prefix.length; i++) {
    let c = b[from + i] as number;
    if (c >= 65 && c <= 90) c |= 32;
    if (c !== prefix[i]) return -1;
  }
  let at = from + prefix.length + 1;
  while (at < to && isBlank(b[at] as number)) at++;
  return at;
}

type PartTest = (b: Uint8Array, from: number, to: number) => boolean;

function compileTest(test: Test): PartTest {
  switch (test.kind) {
    case 'any':
      return () => true;
    case 'number': {
      const { op, value, decimal } = test;
      return (b, from, to) => {
        const n = parseRecordNumber(b, from, to, decimal);
        return !Number.isNaN(n) && compare(n, op, value);
      };
    }
    case 'text': {
      const { negate, value, caseless } = test;
      if (caseless) return (b, from, to) => (text(b, from, to).toLowerCase() === value) !== negate;
      const want = Buffer.from(value, 'latin1');
      return (b, from, to) => {
        if (to - from !== want.length) return negate;
        for (let i = 0; i < want.length; i++) if (b[from + i] !== want[i]) return negate;
        return !negate;
      };
    }
    case 'regex': {
      const { regex, negate } = test;
      return (b, from, to) => regex.test(text(b, from, to)) !== negate;
    }
  }
}

function text(b: Uint8Array, from: number, to: number): string {
  return Buffer.from(b.buffer, b.byteOffset, b.byteLength).toString('latin1', from, to);
}

function inLevel(level: number, limit: LevelLimit): boolean {
  if (limit.mode === 'exact') return level === limit.level;
  return limit.mode === 'at-least' ? level >= limit.level : level <= limit.level;
}

function compare(n: number, op: NumberOp, value: number): boolean {
  switch (op) {
    case '==':
      return n === value;
    case '!=':
      return n !== value;
    case '<':
      return n < value;
    case '<=':
      return n <= value;
    case '>':
      return n > value;
    case '>=':
      return n >= value;
  }
}
