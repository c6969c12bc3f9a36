// Rules on requests, as text and as the XML of content control.

import type { EdgeKind, EdgeRule } from './providers/provider.ts';

/** A rule as stored and shown by the queue, "host:www.example.com path:/news/ ext:css,js"; equal rules have equal
 * texts. */
export function ruleText({ host, prefix, extensions }: EdgeRule): string {
  const words = { host, path: prefix, ext: extensions?.join(',') ?? null };
  return Object.entries(words)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}:${(value as string).replace(/[%\s]/g, encodeURIComponent)}`)
    .join(' ');
}

export function parseRule(text: string): EdgeRule {
  const words = new Map(
    text.split(' ').map((word) => {
      const colon = word.indexOf(':');
      return [word.slice(0, colon), word.slice(colon + 1).replace(/(?:%[\dA-F]{2})+/g, decodeURIComponent)];
    }),
  );
  return {
    host: words.get('host') ?? null,
    prefix: words.get('path') ?? null,
    extensions: words.get('ext')?.split(',') ?? null,
  };
}

/**
 * The rules of one request in sequence. A rule consists of nested elements, the innermost being the action; a path
 * is one element per directory.
 * @param kind `delete` exists only on the fake network: the real one only revalidates
 */
export function eccuXml(rules: readonly EdgeRule[], kind: EdgeKind): string {
  const deed = kind === 'delete' ? '<delete>now</delete>' : '<revalidate>now</revalidate>';
  return `<?xml version="1.0"?>\n<eccu>${rules.map((rule) => element(rule, deed)).join('')}</eccu>`;
}

function element({ host, prefix, extensions }: EdgeRule, deed: string): string {
  let inner = deed;
  if (extensions !== null) inner = wrap(`match:ext value="${escaped(extensions.join(' '))}"`, inner);
  const directories = (prefix ?? '').split('/').filter((part) => part !== '');
  for (const directory of directories.reverse())
    inner = wrap(`match:recursive-dirs value="${escaped(directory)}"`, inner);
  if (host !== null)
    inner = wrap(
      `match:request-header operation="name-value-cmp" argument1="Host" argument2="${escaped(host)}"`,
      inner,
    );
  return inner;
}

function wrap(opening: string, inner: string): string {
  return `<${opening}>${inner}</${opening.split(' ', 1)[0]}>`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] as string);
}
