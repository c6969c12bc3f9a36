// Parses the metadata of a content-control request back into rules: exactly the output of eccu-rule.ts. Elements are
// nested, the innermost is the action; rules follow one another.

import type { EdgeKind, EdgeRule } from '../providers/provider.ts';
import { type EdgeSubject, hostName } from './edge-cache.ts';

export interface EccuRule {
  readonly rule: EdgeRule;
  readonly kind: EdgeKind;
}

const TOKEN = /\s*<(?:\?xml[^>]*\?|(\/?)([a-z:-]+)((?:\s+[a-z0-9-]+="[^"]*")*)\s*)>|(now)/y;
const ATTRIBUTE = /([a-z0-9-]+)="([^"]*)"/g;
const DEEDS: Readonly<Record<string, EdgeKind>> = { delete: 'delete', revalidate: 'invalidate' };

/** The rules, or the error of the text. */
export function readEccu(xml: string): readonly EccuRule[] | string {
  const rules: EccuRule[] = [];
  const open: { name: string; before: EdgeRule }[] = [];
  let rule: EdgeRule = { host: null, prefix: null, extensions: null };
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < xml.trimEnd().length) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(xml);
    if (match === null) return `metadata: not understood at character ${at + 1}`;
    const [, slash, name, attributes = '', now] = match;
    if (now !== undefined) {
      const kind = DEEDS[open.at(-1)?.name ?? ''];
      if (kind === undefined) return '"now" stands outside of a deed';
      rules.push({ rule, kind });
    } else if (slash === '/') {
      const last = open.pop();
      if (last?.name !== name) return `metadata: </${name}> closes nothing`;
      rule = last?.before ?? rule;
    } else if (name !== undefined) {
      if (open.length === 0 && name !== 'eccu') return 'metadata: the root is not eccu';
      open.push({ name, before: rule });
      const changed = narrowed(rule, name, attributesOf(attributes));
      if (typeof changed === 'string') return changed;
      rule = changed;
    }
  }
  if (open.length > 0) return `metadata: <${open.at(-1)?.name}> is not closed`;
  return rules.length === 0 ? 'metadata: it says nothing' : rules;
}

function narrowed(rule: EdgeRule, name: string, attributes: Map<string, string>): EdgeRule | string {
  const value = attributes.get('value') ?? '';
  switch (name) {
    case 'eccu':
    case 'delete':
    case 'revalidate':
      return rule;
    case 'match:recursive-dirs':
      if (value === '' || value.includes('/')) return 'recursive-dirs takes one component of a path';
      return { ...rule, prefix: `${rule.prefix ?? '/'}${value}/` };
    case 'match:ext':
      return { ...rule, extensions: value.split(' ') };
    case 'match:request-header':
      if (attributes.get('argument1') !== 'Host') return 'only the Host header can be matched';
      return { ...rule, host: hostName(attributes.get('argument2') ?? '') };
    default:
      return `metadata: <${name}> is not known`;
  }
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function attributesOf(text: string): Map<string, string> {
  const plain = (value: string): string =>
    value.replace(/&(amp|lt|gt|quot|apos);/g, (_all, name: string) => ENTITIES[name] as string);
  return new Map([...text.matchAll(ATTRIBUTE)].map(([, name = '', value = '']) => [name, plain(value)]));
}

/** Whether a rule matches a cached object. */
export function ruleMatches({ host, prefix, extensions }: EdgeRule, subject: EdgeSubject): boolean {
  const path = subject.path.split('?', 1)[0] as string;
  if (host !== null && host !== subject.host) return false;
  if (prefix !== null && !path.startsWith(prefix)) return false;
  return extensions === null || extensions.includes(path.slice(path.lastIndexOf('.') + 1));
}
