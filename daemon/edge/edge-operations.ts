// What an invalidation becomes at an edge network: the table of kinds, as far as the network's capabilities go. Where a
// network cannot do what is asked, what it gets clears more and never less, and the reply says so; a ban for which there
// is no rule follows the setting rule_fallback.

import type { Invalidation } from '../contract/invalidation.ts';
import { banTarget } from './ban-rule.ts';
import { cacheTags } from './cache-tags.ts';
import { ruleText } from './eccu-rule.ts';
import type { EdgeConfig } from './edge-config.ts';
import type {
  Capabilities,
  EdgeKind,
  EdgeNetwork,
  EdgeTarget,
  EdgeType,
  Provider,
} from './providers/provider.ts';

export interface EdgeOperation {
  /** For the reply: "delete url". */
  readonly op: string;
  readonly targets: readonly EdgeTarget[];
  /** What differs from what was asked; '' for nothing. */
  readonly note: string;
}

/** Tags of one purge: those of a request's header. */
const MAX_KEYS = 1000;

/** The operation, or why there is none. */
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

/** For a ban that no rule expresses. It takes in more than the ban: all of its host, or everything. */
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

/** A tag that every response to the edge carries where bans fall back to tags. */
export const SITE_TAG = 'proxyd-everything';

/** "host/path" or a whole URL as the edge knows it. */
function publicUrl(subject: string, config: EdgeConfig): string {
  const [, scheme = 'https', host = '', rest = ''] = /^(?:(https?):\/\/)?([^/?]*)(.*)$/s.exec(subject) ?? [];
  return `${scheme}://${edgeHost(host, config)}${rest.startsWith('/') ? rest : `/${rest}`}`;
}

function edgeHost(host: string, config: EdgeConfig): string {
  return config.map('host_map').get(host.toLowerCase()) ?? host.toLowerCase();
}
