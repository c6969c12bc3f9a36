// The extension geoip2: facts about an address from a MaxMind DB file. Follows libvmod-geoip2.

import { SYSTEM_TEXTS } from '../../../protocol/system-text.ts';
import { Tag } from '../../../protocol/tables/tags.ts';
import type { VclContext } from '../../contract/context.ts';
import type { Extension, ExtensionObject } from '../../contract/extension.ts';
import { ExtensionError } from '../../contract/failure.ts';
import type { VclIp } from '../../vcl/runtime/ip.ts';
import { byName, row } from '../extension-rows.ts';
import { FileProblem, type LocationFile, openLocationFile } from './location-file.ts';

/** Keys and indexes of a path at most, as in the module. */
const MOST_STEPS = 9;
const INDEX = /^\d{1,9}$/;

function systemText({ code = '', message }: NodeJS.ErrnoException): string {
  return SYSTEM_TEXTS[code] ?? message;
}

function opened(path: string | null): LocationFile {
  if (path === null || path === '')
    throw new ExtensionError('geoip2.geoip2: the name of the file is missing');
  try {
    return openLocationFile(path);
  } catch (error) {
    const why = error instanceof FileProblem ? error.message : systemText(error as NodeJS.ErrnoException);
    throw new ExtensionError(`geoip2.geoip2: ${path}: ${why}`);
  }
}

/** The value at a path; undefined if there is none. */
function at(record: unknown, steps: readonly string[]): unknown {
  let value = record;
  for (const step of steps) {
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return undefined;
    if (Array.isArray(value)) value = INDEX.test(step) ? value[Number(step)] : undefined;
    else value = Object.entries(value).find(([key]) => key === step)?.[1];
  }
  return value;
}

/** Text of characters beyond Latin-1 as the bytes of UTF-8. */
function bytesOf(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

/** A value as text; null if its type has none. Numbers with a fraction have six digits, as in the module. */
function textOf(value: unknown, json: boolean): string | null {
  switch (typeof value) {
    case 'string':
      return bytesOf(json ? JSON.stringify(value) : value);
    case 'boolean':
    case 'bigint':
      return String(value);
    case 'number':
      return Number.isInteger(value) ? String(value) : value.toFixed(6);
    default:
      if (!(value instanceof Uint8Array)) return null;
      return json
        ? JSON.stringify(Buffer.from(value).toString('latin1'))
        : Buffer.from(value).toString('latin1');
  }
}

function lookup(ctx: VclContext, file: LocationFile, path: string | null, ip: VclIp, json: boolean): string {
  const say = (tag: number, text: string): '' => {
    ctx.log.put(tag, `geoip2.lookup: ${text}`);
    return '';
  };
  const steps = path?.split('/', MOST_STEPS + 1) ?? [];
  if (path === null || steps.length > MOST_STEPS || steps.includes(''))
    return say(Tag.Error, `Invalid or missing path (${path ?? 'NULL'})`);
  if (file.isIpv4 && ip.text.includes(':'))
    return say(Tag.Error, `the database has no IPv6 addresses (${ip.text})`);
  let record: unknown;
  try {
    record = file.of(ip.text);
  } catch (error) {
    return say(Tag.Error, `the record is damaged (${(error as Error).message})`);
  }
  if (record === null) return say(Tag.Debug, `No entry for this IP address (${ip.text})`);
  const value = at(record, steps);
  if (value === undefined) return say(Tag.Debug, `No data for this path (${path})`);
  return (
    textOf(value, json) ?? say(Tag.Error, `Unsupported data type (${Array.isArray(value) ? 'array' : 'map'})`)
  );
}

const database: ExtensionObject = {
  signature: 'geoip2(STRING filename)',
  help: 'A MaxMind DB file, of at most a gigabyte. It is read when the program is loaded; one that cannot be read fails the load.',
  create: (_ctx, _name, path: string | null) => opened(path),
  methods: byName(
    row(
      'STRING lookup(STRING path, IP ip, BOOL json=0)',
      lookup,
      'The value of an address at a path of keys and indexes between slashes (nine at most), such as `subdivisions/0/names/en`. The empty text for an address and a path that are not there, for maps and arrays, and where something fails; the log says what (`Error`, `Debug`). With json texts and bytes become strings of JSON.',
    ),
  ),
};

export const geoip2: Extension = {
  name: 'geoip2',
  help: 'facts about addresses from a MaxMind DB file',
  notes: {
    'the file':
      'A new file is used by programs that are loaded after it has taken the place of the old one: move it there, do not write into the old one. Each thread has the file in memory, once for all programs that name it.',
  },
  functions: {},
  objects: { geoip2: database },
};
