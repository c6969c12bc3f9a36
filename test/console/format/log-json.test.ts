// Every line of proxylog --json, from recordings of varied traffic in all groupings, is what the published
// schema says; and the validator used here does refuse lines that are not.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { groupJson } from '../../../console/format/log-json.ts';
import { encodeRecord } from '../../../protocol/log-record.ts';
import type { Grouping, LogTransaction } from '../../../protocol/messages.ts';
import { Tag } from '../../../protocol/tables/tags.ts';
import { LogFileDecoder } from '../../../queries/binary-log.ts';
import { Grouper } from '../../../queries/group.ts';

interface Schema {
  type?: string;
  const?: unknown;
  enum?: unknown[];
  required?: string[];
  properties?: Record<string, Schema>;
  items?: Schema;
  minimum?: number;
  maximum?: number;
  pattern?: string;
}

const SCHEMA = JSON.parse(
  readFileSync(new URL('../../../protocol/log-line.schema.json', import.meta.url), 'utf8'),
) as Schema;

/** Errors in a value, by JSON Schema's rules for the keywords used in the schema. */
function violations(value: unknown, schema: Schema, at = ''): string[] {
  const out: string[] = [];
  const { properties = {}, required = [] } = schema;
  const kind = Array.isArray(value) ? 'array' : Number.isInteger(value) ? 'integer' : typeof value;
  if (schema.type !== undefined && kind !== schema.type) return [`${at}: ${kind}, not ${schema.type}`];
  if ('const' in schema && value !== schema.const) out.push(`${at}: not ${schema.const}`);
  if (schema.enum !== undefined && !schema.enum.includes(value)) out.push(`${at}: ${value} is none of them`);
  if (typeof value === 'number' && value < (schema.minimum ?? value)) out.push(`${at}: too small`);
  if (typeof value === 'number' && value > (schema.maximum ?? value)) out.push(`${at}: too large`);
  if (typeof value === 'string' && !new RegExp(schema.pattern ?? '').test(value)) out.push(`${at}: ${value}`);
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items !== undefined) out.push(...value.flatMap((v, i) => violations(v, items, `${at}[${i}]`)));
  } else if (kind === 'object') {
    const object = value as Record<string, unknown>;
    for (const name of required) if (!Object.hasOwn(object, name)) out.push(`${at}: no ${name}`);
    for (const [name, v] of Object.entries(object)) {
      // The schema allows members to come; today's lines have none that it does not name.
      const known = properties[name];
      out.push(...(known === undefined ? [`${at}: unknown ${name}`] : violations(v, known, `${at}.${name}`)));
    }
  }
  return out;
}

function lines(file: string, grouping: Grouping): Record<string, unknown>[] {
  const groups: LogTransaction[][] = [];
  const grouper = new Grouper({ grouping }, (group) => groups.push(group));
  const bytes = readFileSync(new URL(`../../queries/fixtures/${file}`, import.meta.url));
  grouper.push(new LogFileDecoder().push(bytes) as Uint8Array, 0);
  grouper.flush();
  const text = groups.map(groupJson).join('');
  expect(text.endsWith('\n')).toBe(true);
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

describe('log lines as JSON', () => {
  it.each(
    ['mixed.vsl', 'varied.vsl'].flatMap((f) =>
      (['raw', 'vxid', 'request', 'session'] as const).map((g) => [f, g] as const),
    ),
  )('of %s in %s grouping are what the schema says', (file, grouping) => {
    const all = lines(file, grouping);
    expect(all.length).toBeGreaterThan(20);
    for (const line of all) expect(violations(line, SCHEMA)).toEqual([]);
  });

  it('name the group they belong to', () => {
    const all = lines('mixed.vsl', 'request');
    const deep = all.filter((line) => (line.level as number) > 1);
    expect(deep.length).toBeGreaterThan(0);
    for (const line of deep) {
      const root = all.find((other) => other.vxid === line.group);
      expect(root).toMatchObject({ level: 1, type: 'request' });
    }
  });

  it('keep bytes that are no UTF-8, and quote binary tags', () => {
    const records = Buffer.concat([
      encodeRecord(Tag.ReqURL, 7, 'c', '/\xe9'),
      encodeRecord(Tag.ReqURL, 7, 'c', '/\xc3\xa9'),
      encodeRecord(Tag.Hash, 7, 'c', Buffer.from('a\0')),
    ]);
    const tx: LogTransaction = { level: 1, type: 'request', reason: 'rxreq', vxid: 7, parent: 3, records };
    const line = JSON.parse(groupJson([tx]));
    expect(line.records.map((r: { data: string }) => r.data)).toEqual(['/é', '/é', '"a%00"']);
    expect(violations(line, SCHEMA)).toEqual([]);
  });

  it('are refused by the check when they are wrong', () => {
    const [line] = lines('mixed.vsl', 'vxid') as [Record<string, unknown>];
    for (const wrong of [
      { ...line, version: 2 },
      { ...line, type: 'req' },
      { ...line, vxid: -1 },
      { ...line, level: '1' },
      { ...line, records: [{ tag: 'ReqURL', side: 'x', data: '' }] },
      { ...line, records: [{ tag: 'ReqURL', side: 'c' }] },
      { ...line, records: [{ tag: 'a tag', side: 'c', data: '' }] },
    ])
      expect(violations(wrong, SCHEMA)).not.toEqual([]);
    const { group: _, ...without } = line;
    expect(violations(without, SCHEMA)).not.toEqual([]);
  });
});
