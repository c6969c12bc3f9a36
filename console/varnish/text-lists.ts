// Parses the tables of releases whose commands lack JSON (among them 6.0) into that form, so that the rest of the
// code handles one. Tables have less information: no single probe results, and a parameter's default only if it is
// the value. Lines that do not parse are skipped.

import type { CommandReply } from '../../protocol/messages.ts';

const OK = 200;
const TOO_MANY = 105;
const WRONG = 106;

interface TextList {
  readonly command: string;
  /** The items after version, command and time. */
  read(lines: readonly string[]): unknown[];
}

const LISTS: readonly TextList[] = [
  { command: 'backend.list', read: (lines) => [Object.fromEntries(lines.flatMap(backend))] },
  { command: 'vcl.list', read: (lines) => lines.flatMap(program) },
  { command: 'ban.list', read: (lines) => lines.flatMap(ban) },
  { command: 'param.show', read: (lines) => lines.flatMap(parameter) },
  { command: 'storage.list', read: (lines) => lines.flatMap(storage) },
];

/** The equivalent command for a table; null if there is none, or the reply is JSON or something else. */
export function asText(line: string, { status, body }: CommandReply): string | null {
  const words = line.split(' ');
  const refused = status === TOO_MANY || status === WRONG || (status === OK && !body.startsWith('['));
  if (!refused || !words.includes('-j') || !LISTS.some((list) => list.command === words[0])) return null;
  return words.filter((word) => word !== '-j' && word !== '-p').join(' ');
}

/** A table in the requested JSON form. */
export function asJson(line: string, body: string): string {
  const words = line.split(' ');
  const items = LISTS.find((list) => list.command === words[0])?.read(body.split('\n')) ?? [];
  return JSON.stringify([2, words, Date.now() / 1000, ...items]);
}

/** `boot.default probe Healthy 8/8 Fri, 15 May 2020 13:12:09 GMT`; later releases have the count before the word. */
const BACKEND =
  /^(\S+)\s+(probe|healthy|sick|auto|deleted)\s+(?:(\d+)\/(\d+)\s+)?(healthy|sick)(?:\s+(?:(\d+)\/(\d+)|\(no probe\)))?\s*(.*)$/i;

function backend(line: string): [string, unknown][] {
  const m = BACKEND.exec(line);
  if (m === null) return [];
  const [, name = '', admin = '', before, of, health = '', after, from, changed = ''] = m;
  const good = Number(before ?? after ?? 0);
  const window = Number(of ?? from ?? 0);
  return [
    [
      name,
      {
        type: 'backend',
        admin_health: admin.toLowerCase(),
        probe_message: [good, window, health.toLowerCase()],
        last_change: (Date.parse(changed) || 0) / 1000,
      },
    ],
  ];
}

/** `active auto/warm 0 boot`; labels are followed by their program. */
function program(line: string): unknown[] {
  const m = /^(active|available|discarded)\s+(\w+)(?:\/|\s+)(\w+)\s+(\d+)\s+(\S+)(?:\s+->\s+(\S+))?/.exec(
    line,
  );
  if (m === null) return [];
  const [, status, state, temperature, busy, name, vcl] = m;
  return [
    {
      status,
      state,
      temperature,
      busy: Number(busy),
      name,
      ...(vcl === undefined ? {} : { label: { name: vcl } }),
    },
  ];
}

/** `1508412345.123456  0 C  obj.http.x ~ y`; C: completed. */
function ban(line: string): unknown[] {
  const m = /^(\d+\.\d+)\s+(\d+)\s+([-C])\s*(.*)$/.exec(line);
  return m === null ? [] : [{ time: Number(m[1]), refs: Number(m[2]), completed: m[3] === 'C', spec: m[4] }];
}

/** `thread_pools  2 [pools] (default)`. */
function parameter(line: string): unknown[] {
  const m = /^(\w+)\s+(.*?)(?:\s+\[([^\]]+)\])?(\s+\(default\))?\s*$/.exec(line);
  if (m === null) return [];
  const [, name, value, units, isDefault] = m;
  if (value === '-') return [{ name, implemented: false }];
  return [
    {
      name,
      value,
      ...(units === undefined ? {} : { units }),
      ...(isDefault === undefined ? {} : { default: value }),
    },
  ];
}

/** `storage.s0 = malloc`, below a title. */
function storage(line: string): unknown[] {
  const m = /^\s*storage\.(\S+) = (\S+)/.exec(line);
  return m === null ? [] : [{ name: m[1], storage: m[2] }];
}
