// Objects out of facts by the rows of a table, and the texts of proxylog-json.

import { RecordCursor } from '../../protocol/log-record.ts';
import type { LogTransaction } from '../../protocol/messages.ts';
import { isSubtask } from '../../protocol/subtask.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import { textOf } from '../format/log-json.ts';
import { ALWAYS, OBJECT_FIELDS, type ObjectField } from './object-fields.ts';
import { PROBE_FIELDS, probeFacts } from './probe-fields.ts';
import { factsOf } from './transaction-facts.ts';

export interface ObjectOptions {
  /** An object a transaction, a list of objects a group, or an object a probe. */
  readonly form: 'transaction' | 'group' | 'probe';
  /** Sides that are shown. */
  readonly client: boolean;
  readonly backend: boolean;
  /** Includes ESI subrequests. */
  readonly esi: boolean;
  readonly pretty: boolean;
}

type Json = { [member: string]: unknown };

/** The text of groups, a line for each object or list unless it is pretty. */
export function objectsText(groups: readonly LogTransaction[][], options: ObjectOptions): string {
  const values = options.form === 'group' ? groups.map(listOf(options)) : groups.flatMap(listOf(options));
  let out = '';
  for (const value of values) {
    if (Array.isArray(value) && value.length === 0) continue;
    out += `${JSON.stringify(value, null, options.pretty ? 2 : undefined)}\n`;
  }
  return out;
}

function listOf(options: ObjectOptions): (group: readonly LogTransaction[]) => Json[] {
  if (options.form === 'probe') return (group) => group.flatMap(probesOf);
  return (group) =>
    group.flatMap((tx) => {
      if (!isShown(tx, options)) return [];
      const facts = factsOf(tx);
      return facts === null ? [] : [makeObject(OBJECT_FIELDS, facts, ALWAYS)];
    });
}

function isShown(tx: LogTransaction, { client, backend, esi }: ObjectOptions): boolean {
  if (tx.type === 'bereq') return backend;
  return tx.type === 'request' && client && (esi || !isSubtask(tx));
}

function probesOf(tx: LogTransaction): Json[] {
  const out: Json[] = [];
  const cursor = new RecordCursor(tx.records);
  while (cursor.next()) {
    if (cursor.tag !== Tag.Backend_health) continue;
    const facts = probeFacts(textOf(cursor.text));
    if (facts !== null) out.push(makeObject(PROBE_FIELDS, facts, []));
  }
  return out;
}

/** @param always members that are there when they are empty */
function makeObject<Facts>(
  rows: readonly ObjectField<Facts>[],
  facts: Facts,
  always: readonly string[],
): Json {
  const object: Json = {};
  for (const { path, value } of rows) {
    const [outer = '', inner] = path.split('.');
    const found = value(facts);
    if (inner === undefined) {
      if (found !== undefined) object[outer] = found;
    } else if (outer.endsWith('[]')) {
      const list = memberOf<Json[]>(object, outer.slice(0, -2), []);
      for (const [i, element] of (found as readonly unknown[]).entries()) {
        list[i] ??= {};
        (list[i] as Json)[inner] = element;
      }
    } else if (found !== undefined || always.includes(outer)) {
      const member = memberOf<Json>(object, outer, {});
      if (found !== undefined) member[inner] = found;
    }
  }
  return object;
}

function memberOf<T>(object: Json, name: string, otherwise: T): T {
  object[name] ??= otherwise;
  return object[name] as T;
}
