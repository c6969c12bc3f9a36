// The JSON Schema of what proxylog-json writes, from the tables of its members.

import { ALWAYS, OBJECT_FIELDS, type ObjectField } from './object-fields.ts';
import { PROBE_FIELDS } from './probe-fields.ts';

interface Schema {
  readonly type: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** The whole document. A line is an object, or with -g request a list of them. */
export function objectSchema(): Readonly<Record<string, unknown>> {
  const transaction = { $ref: '#/$defs/transaction' };
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'urn:proxyd:log-object:1',
    title: 'What proxylog-json writes: a transaction, a group of transactions, or a probe',
    anyOf: [transaction, { type: 'array', items: transaction }, { $ref: '#/$defs/probe' }],
    $defs: { transaction: schemaOf(OBJECT_FIELDS, ALWAYS), probe: schemaOf(PROBE_FIELDS, ['window']) },
  };
}

/** The schema of objects of these members. */
function schemaOf<Facts>(rows: readonly ObjectField<Facts>[], always: readonly string[]): Schema {
  const properties = new Map<string, Schema>();
  const required = new Set<string>();
  for (const [outer, members] of byOuter(rows)) {
    const name = outer.replace('[]', '');
    const [first] = members as [ObjectField<Facts>];
    if (always.includes(name) || (first.path === outer && first.always === true)) required.add(name);
    properties.set(name, first.path === outer ? leaf(first) : nested(outer, members));
  }
  return { type: 'object', required: [...required], properties: Object.fromEntries(properties) };
}

function byOuter<Facts>(rows: readonly ObjectField<Facts>[]): Map<string, ObjectField<Facts>[]> {
  const groups = new Map<string, ObjectField<Facts>[]>();
  for (const row of rows) {
    const outer = row.path.split('.')[0] as string;
    groups.set(outer, [...(groups.get(outer) ?? []), row]);
  }
  return groups;
}

function nested<Facts>(outer: string, members: readonly ObjectField<Facts>[]): Schema {
  const properties = members.map((row) => [row.path.slice(outer.length + 1), leaf(row)] as const);
  const list = outer.endsWith('[]');
  const names = members.flatMap((row, i) => (list || row.always === true ? [properties[i]?.[0] ?? ''] : []));
  const object: Schema = { type: 'object', required: names, properties: Object.fromEntries(properties) };
  return list ? { type: 'array', items: object } : object;
}

function leaf<Facts>({ type, values, help }: ObjectField<Facts>): Schema {
  const description = help.replaceAll('`', '');
  if (type === 'strings') return { type: 'array', description, items: { type: 'string' } };
  if (type === 'map') return { type: 'object', description, additionalProperties: { type: 'string' } };
  return { type, description, ...(values === undefined ? {} : { enum: values }) };
}
