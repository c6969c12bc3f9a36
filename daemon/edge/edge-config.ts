// Reads edge-connector.conf: `key = value` lines, `#` comments, each key at most once. Errors name file and line, the
// problem and the remedy, and never repeat the value of a secret. A missing file is no error: the connector is then not
// configured to purge. The size is checked before reading, and only regular files are read, so that a FIFO cannot block
// the start.
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { TIME_UNIT_NAMES, TIME_UNITS } from '../../protocol/units.ts';
import { compileRegex } from '../../queries/regex/bounded-regex.ts';
import { nearest } from '../vcl/diagnostics.ts';
import { CONFIG_PATH, SETTINGS, type SettingName, type SettingRow } from './config-rows.ts';

type SettingValue = string | number | boolean | ReadonlyMap<string, string>;

/** The settings; durations in seconds. */
export class EdgeConfig {
  readonly #values: ReadonlyMap<string, SettingValue>;

  constructor(values: ReadonlyMap<string, SettingValue>) {
    this.#values = values;
  }

  text(name: SettingName): string {
    return this.#typed(name, 'string') as string;
  }

  number(name: SettingName): number {
    return this.#typed(name, 'number') as number;
  }

  flag(name: SettingName): boolean {
    return this.#typed(name, 'boolean') as boolean;
  }

  map(name: SettingName): ReadonlyMap<string, string> {
    return this.#typed(name, 'object') as ReadonlyMap<string, string>;
  }

  /** Whether purges can be sent: the provider and all four of its fields are set. */
  get configured(): boolean {
    const fields = [
      'provider',
      'purge_host',
      'purge_client_token',
      'purge_client_secret',
      'purge_access_token',
    ];
    return fields.every((name) => this.#values.get(name) !== '');
  }

  /** Name and value of each setting, with secrets masked. */
  shown(): readonly (readonly [string, string])[] {
    return SETTINGS.map((row) => [row.name, show(row, this.#values.get(row.name) as SettingValue)]);
  }

  /** For JSON.stringify, and thereby any log or reply. */
  toJSON(): Record<string, string> {
    return Object.fromEntries(this.shown());
  }

  #typed(name: SettingName, type: string): SettingValue {
    const value = this.#values.get(name);
    if (typeof value !== type) throw new Error(`setting ${name} is no ${type}`);
    return value as SettingValue;
  }
}

export interface ReadConfig {
  readonly config: EdgeConfig;
  /** Null if there is no file. */
  readonly path: string | null;
  readonly text: string;
  readonly warnings: readonly string[];
}

/** An operator's error: one line per problem. */
export class EdgeConfigError extends Error {}

/** Chosen: a hundred times a file with every setting. */
const MAX_BYTES = 1 << 20;
const ROWS: ReadonlyMap<string, SettingRow> = new Map(SETTINGS.map((row) => [row.name, row]));
const DURATION = new RegExp(`^(\\d+(?:\\.\\d+)?)(${TIME_UNIT_NAMES})$`);

/** Reads the file named by the environment, or the default. */
export function readEdgeConfig(environment: NodeJS.ProcessEnv): ReadConfig {
  const path = environment.EDGE_CONNECTOR_CONFIG || CONFIG_PATH;
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT')
      return { config: parseEdgeConfig('', path), path: null, text: '', warnings: [] };
    throw new EdgeConfigError(`${path}: cannot be read (${(cause as Error).message})`, { cause });
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw new EdgeConfigError(`${path}: not a plain file`);
    const bytes = Buffer.alloc(MAX_BYTES + 1);
    let length = 0;
    for (let got = -1; got !== 0 && length < bytes.length; length += got)
      got = readSync(fd, bytes, length, bytes.length - length, null);
    if (length > MAX_BYTES) throw new EdgeConfigError(`${path}: longer than ${MAX_BYTES} bytes; shorten it`);
    const mode = stat.mode & 0o777;
    const warnings =
      (mode & 0o077) === 0
        ? []
        : [`${path}: mode 0${mode.toString(8)} lets others read the secrets; chmod 0600 ${path}`];
    const text = bytes.toString('utf8', 0, length);
    return { config: parseEdgeConfig(text, path), path, text, warnings };
  } finally {
    closeSync(fd);
  }
}

/** Parses the text of a file; all errors are reported together. */
export function parseEdgeConfig(text: string, path: string): EdgeConfig {
  const values = new Map<string, SettingValue>();
  const lines = new Map<string, number>();
  const errors: string[] = [];
  for (const [index, whole] of text.split('\n').entries()) {
    const line = whole.trim();
    if (line === '' || line.startsWith('#')) continue;
    const error = readLine(line, index + 1, values, lines);
    if (error !== null) errors.push(`${path}:${index + 1}: ${error}`);
  }
  if (errors.length > 0) throw new EdgeConfigError(errors.join('\n'));
  for (const row of SETTINGS)
    if (!values.has(row.name)) values.set(row.name, settingValue(row, row.default).value);
  const regex = regexProblem(values.get('via_regex') as string);
  if (regex !== null)
    throw new EdgeConfigError(`${path}:${lines.get('via_regex')}: via_regex: ${regex}; mend it`);
  if ((values.get('backoff_min') as number) > (values.get('backoff_max') as number)) {
    const at = lines.get('backoff_min') ?? lines.get('backoff_max');
    throw new EdgeConfigError(`${path}:${at}: backoff_min is above backoff_max; lower it or raise the other`);
  }
  return new EdgeConfig(values);
}

function regexProblem(pattern: string): string | null {
  try {
    compileRegex(pattern);
    return null;
  } catch (cause) {
    return (cause as Error).message;
  }
}

function readLine(
  line: string,
  number: number,
  values: Map<string, SettingValue>,
  lines: Map<string, number>,
): string | null {
  const equals = line.indexOf('=');
  // The line is not repeated: it may be a secret.
  if (equals < 0) return 'no "=" here; write key = value';
  const key = line.slice(0, equals).trim();
  const row = ROWS.get(key);
  if (row === undefined) {
    const near = nearest(key, [...ROWS.keys()]);
    return `unknown key "${key.slice(0, 40)}"; ${near === null ? 'remove the line' : `did you mean ${near}?`}`;
  }
  const first = lines.get(key);
  if (first !== undefined) return `${key} stands on line ${first} already; remove one of the two`;
  lines.set(key, number);
  const read = settingValue(row, line.slice(equals + 1).trim());
  if (read.error !== undefined) return `${key}: ${read.error}`;
  values.set(key, read.value);
  return null;
}

type Read =
  | { readonly value: SettingValue; readonly error?: undefined }
  | { readonly value: ''; readonly error: string };

const wrong = (error: string): Read => ({ value: '', error });

function settingValue(row: SettingRow, text: string): Read {
  if (/[\0-\x1f\x7f]/.test(text)) return wrong('control characters in the value; remove them');
  switch (row.type) {
    case 'map':
      return mapOf(text);
    case 'bool':
      if (/^(on|true|yes|1)$/.test(text)) return { value: true };
      return /^(off|false|no|0)$/.test(text) ? { value: false } : wrong('neither on nor off');
    case 'int':
      return /^\d{1,15}$/.test(text) ? bounded(row, Number(text)) : wrong('not a whole number');
    case 'duration': {
      const match = DURATION.exec(text);
      if (match === null) return wrong('not a duration; write a number with its unit, as in 10s or 5m');
      return bounded(row, Number(match[1]) * (TIME_UNITS.get(match[2] as string) as number));
    }
    case 'choice':
      if (text === row.default || row.choices?.includes(text)) return { value: text };
      return wrong(`not one of ${row.choices?.join(', ')}`);
    case 'host':
      if (text === '' || /^[A-Za-z0-9.-]+(:\d{1,5})?$/.test(text)) return { value: text };
      return wrong('not a host; write it without scheme and path');
    case 'path':
      if (text === '' || /^\/\S*$/.test(text)) return { value: text };
      return wrong('not a path; begin it with / and leave out blanks');
    case 'text':
      return { value: text };
  }
}

function bounded(row: SettingRow, value: number): Read {
  const { min = 0, max = Number.MAX_SAFE_INTEGER } = row;
  return value >= min && value <= max
    ? { value }
    : wrong(`outside of ${min} to ${max} ${row.unit ?? ''}`.trim());
}

function mapOf(text: string): Read {
  const map = new Map<string, string>();
  for (const pair of text === '' ? [] : text.split(',')) {
    const [from = '', to = '', more] = pair.split('=').map((word) => word.trim());
    if (from === '' || to === '' || more !== undefined) return wrong('not pairs; write from = to, from = to');
    map.set(from.toLowerCase(), to);
  }
  return { value: map };
}

function show(row: SettingRow, value: SettingValue): string {
  if (row.secret) return value === '' ? '' : '***';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (typeof value === 'object') return [...value].map(([from, to]) => `${from}=${to}`).join(', ');
  return `${value}${row.type === 'duration' ? 's' : ''}`;
}
