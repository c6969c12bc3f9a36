// From an invalidation to an operation of the edge network, within the network's capabilities. If a network cannot do what
// is asked, the operation clears more, never less, and the reply says so; a ban that no rule expresses follows the setting
// rule_fallback.
//
// Bans become rules only if the rule covers exactly the same requests: host equality, a path below a directory, file
// extensions, or a single URL.

import type { Invalidation } from '../contract/invalidation.ts';
import { cacheTags } from './cache-tags.ts';
import { ruleText } from './eccu-rule.ts';
import type { EdgeConfig } from './edge-config.ts';
import type {
  Capabilities,
  EdgeKind,
  EdgeNetwork,
  EdgeRule,
  EdgeTarget,
  EdgeType,
  Provider,
} from './providers/provider.ts';

export interface EdgeOperation {
  /** The operation as the reply names it: "delete url". */
  readonly op: string;
  readonly targets: readonly EdgeTarget[];
  /** How it differs from the request; '' if it does not. */
  readonly note: string;
}

/** Tags of one purge: those of a request's header. */
const MAX_KEYS = 1000;

/** The operation for an invalidation, or why there is none. */
export function edgeOperation(
  event: Invalidation,
  config: EdgeConfig,
  { capabilities: can, rules }: Provider,
): EdgeOperation | string {
  const asked: EdgeKind = event.soft ? 'invalidate' : 'delete';
  const kind: EdgeKind = can.soft ? asked : 'delete';
  const note = kind === asked ? '' : 'this network has no soft purge: deleted';
  const network = config.text('network') as EdgeNetwork;
  const made = (type: EdgeType, targets: readonly string[], how: EdgeKind, more: string): EdgeOperation => ({
    op: `${how} ${type}`,
    targets: targets.map((target) => ({ kind: how, type, network, target })),
    note: more,
  });
  switch (event.kind) {
    case 'purge':
      return made('url', [publicUrl(event.subject, config)], kind, note);
    case 'tags': {
      if (!can.tags) return 'this network has no cache tags';
      const { tags, left } = cacheTags([event.subject], MAX_KEYS);
      if (left > 0) return `more than ${MAX_KEYS} keys`;
      if (tags.length === 0) return 'no keys';
      return made('tag', tags, kind, note);
    }
    case 'ban': {
      const target = banTarget(event.subject);
      if (target.url !== undefined) return made('url', [publicUrl(target.url, config)], kind, note);
      if (target.rule === undefined) return fallback(target.reason, config, can, kind, note, made);
      const rule = {
        ...target.rule,
        host: target.rule.host === null ? null : edgeHost(target.rule.host, config),
      };
      if (rules !== undefined && !rules(rule))
        return fallback('this network has no such rule', config, can, kind, note, made);
      if (asked === 'delete' && can.ruleDelete) return made('rule', [ruleText(rule)], 'delete', '');
      if (can.ruleInvalidate) {
        const lesser = asked === 'delete' ? 'this network cannot delete by rule: invalidated' : '';
        return made('rule', [ruleText(rule)], 'invalidate', lesser);
      }
      if (can.ruleDelete) return made('rule', [ruleText(rule)], 'delete', note);
      return fallback('this network has no rules', config, can, kind, note, made);
    }
  }
}

type Make = (type: EdgeType, targets: readonly string[], how: EdgeKind, note: string) => EdgeOperation;

/** The operation for a ban that no rule expresses. It clears more than the ban: all of its host, or everything. */
function fallback(
  reason: string,
  config: EdgeConfig,
  can: Capabilities,
  kind: EdgeKind,
  note: string,
  made: Make,
): EdgeOperation | string {
  const notes = [`${reason}: everything is cleared instead`, note].filter((text) => text !== '').join('; ');
  switch (config.text('rule_fallback')) {
    case 'tag':
      return can.tags
        ? made('tag', [SITE_TAG], kind, notes)
        : `${reason}, and this network has no cache tags`;
    case 'cpcode': {
      const codes = [...new Set(config.map('cpcode_map').values())];
      if (!can.cpcodes || codes.length === 0)
        return `${reason}, and there is no CP code to clear (cpcode_map)`;
      return made('cpcode', codes, kind, notes);
    }
    default:
      return `${reason} (rule_fallback = reject)`;
  }
}

/** A tag on every response to the edge, for bans that fall back to tags. */
export const SITE_TAG = 'proxyd-everything';

/** "host/path" or a whole URL, as known to the edge. */
function publicUrl(subject: string, config: EdgeConfig): string {
  const [, scheme = 'https', host = '', rest = ''] = /^(?:(https?):\/\/)?([^/?]*)(.*)$/s.exec(subject) ?? [];
  return `${scheme}://${edgeHost(host, config)}${rest.startsWith('/') ? rest : `/${rest}`}`;
}

function edgeHost(host: string, config: EdgeConfig): string {
  return config.map('host_map').get(host.toLowerCase()) ?? host.toLowerCase();
}

export type BanTarget =
  | { readonly rule: EdgeRule; readonly url?: undefined; readonly reason?: undefined }
  /** "host/path". */
  | { readonly url: string; readonly rule?: undefined; readonly reason?: undefined }
  | { readonly reason: string; readonly rule?: undefined; readonly url?: undefined };

/** Words, or texts in double quotes with escaped quotes and backslashes. */
const WORD = /"((?:[^"\\]|\\.)*)"|(\S+)/g;
/** Literal characters of a pattern, or escaped ones. */
const LITERAL = /^(?:[A-Za-z0-9_/~%=,:@!&;-]|\\[^A-Za-z0-9])*$/;
/** A Host value, with its port if it has one; in a pattern its dots are escaped. */
const HOST = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/;
const DOTTED = /^(?:[A-Za-z0-9_-]|\\\.)+(?::\d{1,5})?$/;
const EXTENSION =
  /^\\\.(?:([a-z0-9]+)|\((?:\?:)?([a-z0-9]+(?:\|[a-z0-9]+)*)\))(\$|\(\\\?\|\$\)|\(\?:\\\?\|\$\)|\(\$\|\\\?\))$/i;

export function banTarget(expression: string): BanTarget {
  const words = [...expression.matchAll(WORD)].map(([, quoted, plain]) =>
    quoted === undefined ? (plain as string) : quoted.replace(/\\(["\\])/g, '$1'),
  );
  let host: string | null = null;
  let prefix: string | null = null;
  let extensions: string[] | null = null;
  let exact: string | null = null;
  for (let i = 0; i < words.length; i += 4) {
    const [field = '', operator = '', argument = '', and = '&&'] = words.slice(i, i + 4);
    if (and !== '&&') return { reason: 'the expression is not read' };
    const term = `${field} ${operator} ${argument}`;
    const name = field.toLowerCase();
    if (name === 'req.http.host') {
      const named = hostOf(operator, argument);
      if (named === null || host !== null) return { reason: `no rule for ${term}` };
      host = named;
    } else if (name === 'req.url' && operator === '==' && argument.startsWith('/') && exact === null) {
      exact = argument;
    } else if (name === 'req.url' && operator === '~') {
      const directory = directoryOf(argument);
      const files = EXTENSION.exec(argument);
      if (directory !== null && prefix === null) prefix = directory;
      else if (files !== null && extensions === null) extensions = (files[1] ?? files[2] ?? '').split('|');
      else return { reason: `no rule for ${term}` };
      // A pattern for extensions without a query matches less than a rule.
    } else return { reason: `no rule for ${term}` };
  }
  if (exact !== null) {
    if (host === null || prefix !== null || extensions !== null)
      return { reason: `no rule for req.url == ${exact}` };
    return { url: `${host}${exact}` };
  }
  return { rule: { host, prefix, extensions } };
}

function hostOf(operator: string, argument: string): string | null {
  if (operator === '==') return HOST.test(argument) ? argument.toLowerCase() : null;
  if (operator !== '~' || !argument.startsWith('^') || !argument.endsWith('$')) return null;
  const inner = argument.slice(1, -1);
  return DOTTED.test(inner) ? inner.replaceAll('\\', '').toLowerCase() : null;
}

/** The directory of a pattern for everything below it. */
function directoryOf(pattern: string): string | null {
  if (!pattern.startsWith('^/') || !pattern.endsWith('/')) return null;
  const inner = pattern.slice(1);
  if (!LITERAL.test(inner)) return null;
  const path = inner.replace(/\\(.)/g, '$1');
  return /[?*"\s]|\/\//.test(path) ? null : path;
}
