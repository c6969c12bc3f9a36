// Random sites of edge-side includes for property tests: pages that include each other to a depth below and beyond the
// limit, text with all kinds of noise between well-formed markup, and for each resource how the origin sends it. The
// difficult part is noise that looks like markup and is none: every `<` of it ends with a `>` of its own.
import { gzipSync } from 'node:zlib';
import type { Random } from '../fuzz/random.ts';
import type { ExpandedResource, Lookup } from './esi-expansion.ts';
import { type Action, type OriginRequest, type Reply, respond, respondChunked } from './origin.ts';

export interface SiteResource extends ExpandedResource {
  url: string;
  /** How far it is from a page; it includes only what is farther. */
  rank: number;
  gzip: boolean;
  framing: 'length' | 'chunked' | 'eof';
  /** Lengths of chunks, used in turns. */
  chunks: number[];
  fields: Record<string, string>;
}

export interface Site {
  /** URLs to ask for. */
  pages: string[];
  lookup: Lookup;
  reply: (request: OriginRequest) => Reply;
}

const RANKS = 8;
const DIRS = ['', 'a/', 'a/b/', 'c.d/'];
const LIVES = ['max-age=100', 'max-age=100', 'max-age=100', 'max-age=0', 'private', 'max-age=100, no-cache'];
const NOISE = [
  ...[
    'text ',
    '\n',
    '\r\n',
    '\t',
    '>',
    ' > ',
    '--',
    '-->',
    ']]>',
    '"',
    "'",
    '&amp;',
    '&lt;',
    'esi:include',
    '/>',
  ],
  ...['<a href="x">', '</a>', '<br/>', '< esi:include src="/none"/>', '<esi>', '<esix:y/>', "<p title='<b'>"],
  ...[
    '<!DOCTYPE html>',
    '<?xml version="1.0"?>',
    '\xe4\xf6\xfc',
    '\xc3\xa9',
    '\x00',
    '\x1f\x8b\x08',
    '<>',
    '<  >',
  ],
];
const INSIDE = ['text ', '\n', '<b>', '"', "'", '&amp;', '\xe4', ' - ', '] ', 'esi:', '<p class="x">', '> '];

function noise(random: Random, words: readonly string[], most = 6): string {
  const text = random.times(most, () => random.pick(words)).join('');
  return random.chance(0.05) ? text + 'long '.repeat(random.below(3000)) : text;
}

function spelled(random: Random, from: string, to: string): string {
  const dir = from.slice(0, from.lastIndexOf('/') + 1);
  const forms = [to, `http://h${random.below(3)}.test${to}`];
  if (to.startsWith(dir)) forms.push(to.slice(dir.length));
  return (
    random.pick(forms) + random.pick(['', '', '', '?q=1', '?a=1&amp;b=&lt;2&gt;', '?&quot;&apos;&amp;amp;'])
  );
}

function include(random: Random, from: SiteResource, farther: readonly SiteResource[]): string {
  const src = spelled(random, from.url, random.pick(farther).url);
  const quote = random.pick(['"', "'"]);
  const blank = random.pick(['', ' ', '  ', '\n', '\t']);
  const before = random.pick(['', '', 'alt="x" ', "onerror='continue' ", 'foo="&lt;" ']);
  return `<esi:include ${before}src=${quote}${src}${quote}${random.pick(['', ' max="3"'])}${blank}/>`;
}

function document(random: Random, of: SiteResource, farther: readonly SiteResource[]): string {
  if (random.chance(0.05)) return '';
  const start = random.chance(0.1)
    ? random.pick(['plain ', '\xff', '&'])
    : random.pick(['<html>', ' \r\n\t<a>', '<!-- c -->']);
  const most = of.rank === 0 ? 6 : of.rank === 1 ? 3 : 2;
  let includes = farther.length === 0 ? 0 : random.below(most + 1);
  if (of.rank < 2) includes = Math.max(includes, 1);
  const some = (): string => {
    if (farther.length === 0 || includes-- <= 0) return '';
    return include(random, of, farther);
  };
  const parts = [
    () => noise(random, NOISE),
    () => some(),
    () => `<esi:remove>${noise(random, INSIDE)}</esi:remove>`,
    () => `<!--esi ${noise(random, INSIDE)}${some()}${noise(random, INSIDE)} -->`,
    () => `<!--esi <esi:remove>${noise(random, INSIDE)}</esi:remove>-->`,
    () => `<!-- ${noise(random, INSIDE)}<esi:include src="/none"/> -->`,
    () => `<![CDATA[ ${noise(random, INSIDE)}<esi:include src="/none"/> ]]>`,
    () => `<esi:comment text="${noise(random, ['text ', '&amp;', '\xe4'])}"/>`,
  ];
  let text = random.chance(0.1) ? some() : start;
  for (const part of random.times(10, () => random.pick(parts))) text += part();
  while (includes > 0) text += some() + noise(random, NOISE, 2);
  return text;
}

/** A site whose URLs begin with `prefix`, which begins and ends with a slash. */
export function randomSite(random: Random, prefix: string): Site {
  // Every other site has a chain of includes from its first page through all ranks, beyond the limit of depth.
  const chain = random.chance(0.5) ? RANKS : 1;
  const resources: SiteResource[] = Array.from({ length: 12 + random.below(12) }, (_, i) => ({
    url: `${prefix}${random.pick(DIRS)}r${i}`,
    rank: i < 2 ? 0 : i <= chain ? i - 1 : 1 + random.below(RANKS - 1),
    text: '',
    esi: i <= chain || random.chance(0.8),
    gzip: random.chance(0.4),
    framing: random.pick(['length', 'chunked', 'eof'] as const),
    chunks: [1, 2, 3].map(() => 1 + random.below(random.pick([3, 20, 4000]))),
    fields: {
      'Cache-Control': random.pick(LIVES),
      'X-Do': random.pick(['', '', '', 'gzip', 'gunzip', 'wait', 'pass']),
    },
  }));
  for (const [i, r] of resources.entries()) {
    const farther = resources.filter((other) => other.rank > r.rank);
    r.text = document(random, r, farther);
    const next = i === 0 ? resources[2] : i > 1 && i < chain ? resources[i + 1] : undefined;
    if (next !== undefined) r.text = `<x>${r.text}${include(random, r, [next])}`;
  }
  const byPath = new Map(resources.map((r) => [r.url, r]));
  const at = (url: string): SiteResource | undefined => byPath.get(url.split('?', 1)[0] ?? '');
  return {
    pages: resources.slice(0, 2).map((r) => r.url),
    // The end shows which Host and URL were asked for.
    lookup: (host, url) => ({
      text: `${at(url)?.text ?? ''}[${shown(host, url)}]`,
      esi: at(url)?.esi ?? false,
    }),
    reply: (request) => {
      const found = at(request.url);
      if (found === undefined) return respond('404 Not Found', {}, 'no such page');
      const host = /^host: *(.*?)\r$/im.exec(request.head)?.[1] ?? '';
      return sent(found, Buffer.from(`${found.text}[${shown(host, request.url)}]`, 'latin1'));
    },
  };
}

/** Without what could be markup. */
function shown(host: string, url: string): string {
  return `${host}${url}`.replace(/[<>]/g, '_');
}

function sent(resource: SiteResource, plain: Buffer): Reply {
  const body = resource.gzip ? gzipSync(plain) : plain;
  const fields = {
    ...resource.fields,
    'X-Esi': resource.esi ? '1' : '0',
    ETag: '"e"',
    ...(resource.gzip ? { 'Content-Encoding': 'gzip' } : {}),
  };
  if (resource.framing === 'length') return respond('200 OK', fields, body);
  const pieces: Buffer[] = [];
  for (let from = 0, i = 0; from < body.length; i++) {
    const size = resource.chunks[i % resource.chunks.length] ?? 1;
    pieces.push(body.subarray(from, from + size));
    from += size;
  }
  if (resource.framing === 'chunked') return respondChunked('200 OK', fields, pieces);
  const head = Object.entries(fields).map(([n, v]) => `${n}: ${v}\r\n`);
  const actions: Action[] = [{ send: `HTTP/1.1 200 OK\r\n${head.join('')}Connection: close\r\n\r\n` }];
  return [...actions, { send: body }, { close: true }];
}
