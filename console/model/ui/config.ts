// The operator's file: theme, keys, saved queries, instances. JSON, checked field by field: an invalid field is
// reported with its place and ignored, and the rest is used. A console never fails to start for its configuration.

import { parseVarnishTarget } from '../../client/varnish-target.ts';
import type { KeyBindings, KeyGroup } from './keymap.ts';

const THEME_NAMES = ['default', 'dark', 'light', 'high-contrast', 'none'] as const;
export type ThemeName = (typeof THEME_NAMES)[number];

export interface ConfiguredInstance {
  name: string;
  dir?: string;
  address?: string;
  secretFile?: string;
  varnish?: string;
}

export interface ConsoleConfig {
  theme: ThemeName;
  ascii: boolean | null;
  /** One plain line per change instead of a screen, for screen readers. */
  reader: boolean;
  /** Clock times in UTC. */
  utc: boolean;
  /** Name of the first view; '' is the first of the table. */
  view: string;
  keys: KeyBindings;
  queries: Readonly<Record<string, string>>;
  instances: readonly ConfiguredInstance[];
}

export const DEFAULT_CONFIG: ConsoleConfig = {
  theme: 'default',
  ascii: null,
  reader: false,
  utc: false,
  view: '',
  keys: {},
  queries: {},
  instances: [],
};

export interface CheckedConfig {
  config: ConsoleConfig;
  /** The ignored fields, each with its place and the reason. */
  problems: readonly string[];
}

/** Names that a file may use. */
export interface ConfigTables {
  /** Names of the views. */
  views: readonly string[];
  keys: readonly KeyGroup[];
  /** The problem of a query, or null. */
  checkQuery(query: string): string | null;
}

/** @param tables null where they are not loaded yet: fields that need them are ignored without a problem */
export function parseConfig(text: string, tables: ConfigTables | null): CheckedConfig {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { config: DEFAULT_CONFIG, problems: [`not JSON: ${(error as Error).message}`] };
  }
  if (!isObject(value)) return { config: DEFAULT_CONFIG, problems: ['not an object'] };
  const problems: string[] = [];
  const out: { -readonly [K in keyof ConsoleConfig]: ConsoleConfig[K] } = { ...DEFAULT_CONFIG };
  for (const [name, field] of Object.entries(value)) {
    switch (name) {
      case 'theme':
        out.theme = oneOf(field, THEME_NAMES, name, problems) ?? out.theme;
        break;
      case 'view':
        if (tables !== null) out.view = oneOf(field, tables.views, name, problems) ?? out.view;
        break;
      case 'ascii':
      case 'reader':
      case 'utc':
        if (typeof field === 'boolean') out[name] = field;
        else problems.push(`${name}: true or false`);
        break;
      case 'keys':
        if (tables !== null) out.keys = keys(field, tables.keys, problems);
        break;
      case 'queries':
        if (tables !== null) out.queries = queries(field, tables.checkQuery, problems);
        break;
      case 'instances':
        out.instances = instances(field, problems);
        break;
      default:
        problems.push(`${name}: unknown; known are ${Object.keys(DEFAULT_CONFIG).join(', ')}`);
    }
  }
  return { config: out, problems };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function oneOf<T extends string>(
  value: unknown,
  known: readonly T[],
  name: string,
  problems: string[],
): T | null {
  if (known.includes(value as T)) return value as T;
  problems.push(`${name}: one of ${known.join(', ')}`);
  return null;
}

function keys(value: unknown, groups: readonly KeyGroup[], problems: string[]): KeyBindings {
  if (!isObject(value)) {
    problems.push('keys: an object of command to list of keys');
    return {};
  }
  const known = groups.flatMap(({ scope, rows }) => rows.map((row) => ({ ...row, scope })));
  const out: Record<string, readonly string[]> = {};
  for (const [name, list] of Object.entries(value)) {
    const command = name.slice(name.indexOf('/') + 1);
    const scope = name.includes('/') ? name.slice(0, name.indexOf('/')) : null;
    const rows = known.filter((r) => r.command === command && (scope === null || r.scope === scope));
    if (rows.length === 0) problems.push(`keys.${name}: no such command`);
    else if (!Array.isArray(list) || !list.every((k) => typeof k === 'string' && k !== ''))
      problems.push(`keys.${name}: a list of keys, as ["w", "ctrl+w"]`);
    else {
      const taken = (list as string[]).flatMap((key) => {
        const other = known.find(
          (r) => rows.some((o) => o.scope === r.scope) && r.command !== command && r.keys.includes(key),
        );
        return other === undefined || Object.hasOwn(value, other.command)
          ? []
          : [`${key} is ${other.command}`];
      });
      if (taken.length > 0) problems.push(`keys.${name}: ${taken.join(', ')}`);
      else out[name] = list as string[];
    }
  }
  return out;
}

function queries(
  value: unknown,
  checkQuery: (query: string) => string | null,
  problems: string[],
): Record<string, string> {
  const out: Record<string, string> = {};
  if (!isObject(value)) problems.push('queries: an object of name to query');
  else {
    for (const [name, query] of Object.entries(value)) {
      const wrong = typeof query !== 'string' ? 'a text' : query === '' ? null : checkQuery(query);
      if (wrong !== null) problems.push(`queries.${name}: ${wrong}`);
      else out[name] = query as string;
    }
  }
  return out;
}

function instances(value: unknown, problems: string[]): ConfiguredInstance[] {
  if (!Array.isArray(value)) {
    problems.push('instances: a list of {name, dir}, {name, address, secretFile} or {name, varnish}');
    return [];
  }
  return value.flatMap((item: unknown, i): ConfiguredInstance[] => {
    const text = (field: string): string | undefined => {
      const found = isObject(item) ? item[field] : undefined;
      return typeof found === 'string' && found !== '' ? found : undefined;
    };
    const name = text('name');
    const dir = text('dir');
    const address = text('address');
    const secretFile = text('secretFile');
    const varnish = text('varnish');
    const places = [dir, address, varnish].filter((place) => place !== undefined).length;
    if (name === undefined || !/^[\w.-]+$/.test(name) || places !== 1) {
      problems.push(`instances[${i}]: a name of letters, digits, . _ - and one of dir, address and varnish`);
      return [];
    }
    if (varnish !== undefined) {
      try {
        parseVarnishTarget(varnish);
      } catch (cause) {
        problems.push(`instances[${i}].varnish: ${(cause as Error).message}`);
        return [];
      }
    }
    return [
      {
        name,
        ...(dir === undefined ? {} : { dir }),
        ...(address === undefined ? {} : { address }),
        ...(secretFile === undefined ? {} : { secretFile }),
        ...(varnish === undefined ? {} : { varnish }),
      },
    ];
  });
}
