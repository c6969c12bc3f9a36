// Translation of each invalidation for each network, by its capabilities, and of bans without a rule.
import { expect, it } from 'vitest';
import type { Invalidation } from '../../../daemon/contract/invalidation.ts';
import { parseEdgeConfig } from '../../../daemon/edge/edge-config.ts';
import { edgeOperation } from '../../../daemon/edge/edge-operations.ts';
import { makeProvider } from '../../../daemon/edge/providers/make-provider.ts';

function reported(provider: string, event: Partial<Invalidation>, settings = ''): string {
  const config = parseEdgeConfig(`provider = ${provider}\n${settings}`, 'test');
  const whole: Invalidation = {
    kind: 'purge',
    soft: false,
    subject: '',
    origin: 'admin',
    count: null,
    ...event,
  };
  const operation = edgeOperation(whole, config, makeProvider(config, { ca: null }));
  if (typeof operation === 'string') return `rejected: ${operation}`;
  const { op, targets, note } = operation;
  return `${op} ${targets.map(({ network, target }) => `${network} ${target}`).join(' ')}${note === '' ? '' : ` (${note})`}`;
}

const purge = { subject: 'Www.Example.com/a?b' };
const rule = { kind: 'ban', subject: 'req.http.host == h && req.url ~ ^/n/' } as const;
const files = { kind: 'ban', subject: 'req.url ~ \\.jpg$' } as const;
const other = { kind: 'ban', subject: 'obj.status == 404' } as const;
const keys = { kind: 'tags', subject: 'a, b a' } as const;
const RULE = 'host:h path:/n/';

it.each<[string, Partial<Invalidation>, string, string?]>([
  ['akamai', purge, 'delete url staging https://www.example.com/a?b'],
  [
    'akamai',
    purge,
    'delete url production https://edge.example/a?b',
    'network = production\nhost_map = www.example.com = edge.example',
  ],
  ['akamai', { ...purge, soft: true }, 'invalidate url staging https://www.example.com/a?b'],
  ['akamai', { subject: 'http://h/x' }, 'delete url staging http://h/x'],
  ['akamai', keys, 'delete tag staging a staging b'],
  ['akamai', { ...keys, soft: true }, 'invalidate tag staging a staging b'],
  ['akamai', { ...keys, subject: ' ' }, 'rejected: no keys'],
  ['akamai', rule, `invalidate rule staging ${RULE} (this network cannot delete by rule: invalidated)`],
  ['akamai', { ...rule, soft: true }, `invalidate rule staging ${RULE}`],
  ['fake', rule, `delete rule staging ${RULE}`],
  ['fake', { kind: 'ban', subject: 'req.http.host == h && req.url == /x' }, 'delete url staging https://h/x'],
  ['akamai', other, 'rejected: no rule for obj.status == 404 (rule_fallback = reject)'],
  [
    'akamai',
    other,
    'delete tag staging proxyd-everything (no rule for obj.status == 404: everything is cleared instead)',
    'rule_fallback = tag',
  ],
  [
    'akamai',
    { ...other, soft: true },
    'invalidate cpcode staging 12 staging 34 (no rule for obj.status == 404: everything is cleared instead)',
    'rule_fallback = cpcode\ncpcode_map = a = 12, b = 34, c = 12',
  ],
  [
    'akamai',
    other,
    'rejected: no rule for obj.status == 404, and there is no CP code to clear (cpcode_map)',
    'rule_fallback = cpcode',
  ],
  ['fastly', rule, 'rejected: this network has no rules (rule_fallback = reject)'],
  [
    'fastly',
    { ...rule, soft: true },
    'invalidate tag staging proxyd-everything (this network has no rules: everything is cleared instead)',
    'rule_fallback = tag',
  ],
  [
    'cloudflare',
    { ...purge, soft: true },
    'delete url staging https://www.example.com/a?b (this network has no soft purge: deleted)',
  ],
  ['cloudflare', rule, `delete rule staging ${RULE}`],
  [
    'cloudflare',
    { ...rule, soft: true },
    `delete rule staging ${RULE} (this network has no soft purge: deleted)`,
  ],
  ['cloudflare', files, 'rejected: this network has no such rule (rule_fallback = reject)'],
])('%s %o: %s', (provider, event, expected, settings) => {
  expect(reported(provider, event, settings)).toBe(expected);
});
