// Rules for pages with edge-side includes: failed fragments, too deep includes, why a page is not served from the
// cache entirely, where its time went, markup errors. They are independent of each other; without fragments only the
// last one applies.

import { readIncludeFailure } from '../../../../protocol/esi-notes.ts';
import { duration } from '../../../model/ui/numbers.ts';
import { type Fragment, failureOf, handlingName, slowestOf, some, uncachedBecause } from './fragments.ts';
import type { Evidence, Facts } from './request-facts.ts';
import type { Case, Rule } from './why-case.ts';

/** More evidence than this is not readable. */
const MOST_EVIDENCE = 8;

/** Why a body is not parsed for includes despite do_esi. */
const RAW = [
  {
    pattern: /^No ESI processing, .* BOM/,
    because: 'begins with a byte order mark',
    hint: 'The feature esi_remove_bom removes it.',
  },
  {
    pattern: /^No ESI processing/,
    because: 'does not begin with "<"',
    hint: 'If it is not a page, leave do_esi off for its Content-Type; otherwise the feature esi_disable_xml_check parses it regardless.',
  },
] as const;

const ofMany = (n: number, all: number): string =>
  `${n} of its ${all} ${all === 1 ? 'fragment' : 'fragments'}`;

/** The page and its fragments, each with its fetch. */
function* bodies(c: Case): Generator<{ url: string; facts: Facts }> {
  yield { url: c.request.url, facts: c.request };
  for (const { url, request } of c.fragments) yield { url, facts: request };
}

function* fetches(c: Case): Generator<{ url: string; facts: Facts }> {
  if (c.fetch !== null) yield { url: c.request.url, facts: c.fetch };
  for (const { url, fetch } of c.fragments) if (fetch !== null) yield { url, facts: fetch };
}

/** The chain of includes that leads to a fragment, without the page. */
function path(f: Fragment): string {
  return f.within === null ? f.url : `${f.url} in ${path(f.within)}`;
}

/** Seconds spent on the page's own includes, if they were fetched one after another and more than one took measurable
 * time. */
function oneByOne(fragments: readonly Fragment[], slowest: Fragment): number {
  const own = fragments.filter((f) => f.within === null).toSorted((a, b) => a.from - b.from);
  if (own.some((f, i) => f.from < (own[i - 1]?.to ?? 0))) return 0;
  const total = own.reduce((sum, f) => sum + f.to - f.from, 0);
  return total > 1.5 * slowest.own ? total : 0;
}

function counted(fragments: readonly Fragment[]): string {
  const counts = new Map<string, number>();
  for (const { handling } of fragments) {
    const name = handling === '' ? 'unknown' : handlingName(handling);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].map(([name, n]) => `${n} ${name}`).join(', ');
}

export const FRAGMENT_RULES: readonly Rule[] = [
  {
    name: 'fragment-failed',
    explains: 'A fragment of the page failed, or is an error page.',
    try: (c) => {
      const failures = new Map<string, Evidence>();
      for (const { facts } of bodies(c)) {
        for (const evidence of facts.all('Error')) {
          const failure = readIncludeFailure(evidence.text);
          if (failure !== null) failures.set(`${failure.url} (${failure.reason})`, evidence);
        }
      }
      const known = new Set([...failures.values()].map((e) => readIncludeFailure(e.text)?.url));
      for (const fragment of c.fragments) {
        const failure = known.has(fragment.url) ? null : failureOf(fragment);
        const evidence = failure?.evidence[0];
        if (failure !== null && evidence !== undefined)
          failures.set(`${fragment.url} (${failure.because})`, evidence);
      }
      if (failures.size === 0) return null;
      return {
        sentence: `${ofMany(failures.size, Math.max(failures.size, c.fragments.length))} failed: ${some([...failures.keys()])}.`,
        evidence: [...failures.values()].slice(0, MOST_EVIDENCE),
        hint: 'A response with an error status is included like any other; an include whose delivery fails is omitted, and ends the page with the feature esi_include_onerror.',
      };
    },
  },
  {
    name: 'fragment-depth',
    explains: 'Includes were nested deeper than max_esi_depth allows.',
    try: (c) => {
      for (const { url, facts } of bodies(c)) {
        const error = facts.first('VCL_Error', /^ESI depth/);
        if (error === undefined) continue;
        const loop = c.fragments.filter((f) => f.url === url).length > 1 || c.request.url === url;
        return {
          sentence: `Includes of ${url} were omitted, because they are deeper than max_esi_depth${loop && c.fragments.length > 0 ? `: ${url} includes itself` : ''}.`,
          evidence: [error],
          hint: loop
            ? 'Break the loop: it costs a request per level.'
            : 'The Parameters view (6) sets max_esi_depth.',
        };
      }
      return null;
    },
  },
  {
    name: 'fragment-uncached',
    explains: 'Fragments of the page are fetched for every page.',
    try: (c) => {
      const found = c.fragments.flatMap((f) => {
        const cause = uncachedBecause(f);
        return cause === null ? [] : [{ f, cause }];
      });
      if (found.length === 0) return null;
      const texts = found.map(({ f, cause }) => `${f.url} (${cause.because})`);
      const gives = found.some(({ f }) => f.fetch?.header('response', 'set-cookie') !== undefined);
      const carries = found.some(({ cause }) => cause.evidence.some((e) => e.tag === 'ReqHeader'));
      return {
        sentence: `${ofMany(found.length, c.fragments.length)} ${found.length === 1 ? 'is' : 'are'} not kept in the cache, so that each such page waits for a backend: ${some(texts, 5)}.`,
        evidence: found.flatMap(({ cause }) => cause.evidence).slice(0, MOST_EVIDENCE),
        hint: gives
          ? 'Headers of a fragment never reach the client: unset its Set-Cookie in vcl_backend_response.'
          : carries
            ? 'A fragment carries the headers of the client: unset them where req.esi_level > 0 and they do not matter.'
            : '',
      };
    },
  },
  {
    name: 'fragment-host',
    explains: 'An include names another host, but its request went where the page came from.',
    try: (c) => {
      const host = c.request.request.get('host') ?? '';
      const at = c.fetch?.first('BackendOpen')?.text.split(' ')[1];
      for (const { url, request, fetch } of c.fragments) {
        const other = request.request.get('host') ?? '';
        const open = fetch?.first('BackendOpen');
        const asked = request.header('request', 'host');
        if (other === host || open === undefined || asked === undefined) continue;
        if (at !== undefined && open.text.split(' ')[1] !== at) continue;
        return {
          sentence: `The include of ${url} names the host ${other}, but was fetched from ${open.text.split(' ')[1]}${at === undefined ? '' : ', as the page'}: an include sets the Host header, and the program chooses the backend.`,
          evidence: [asked, open],
          hint: `If ${other} is served elsewhere, set req.backend_hint for it in vcl_recv.`,
        };
      }
      return null;
    },
  },
  {
    name: 'fragments',
    explains: 'The page has fragments: how they were answered, and which took longest.',
    try: (c) => {
      const { fragments } = c;
      if (fragments.length === 0) return null;
      const slowest = slowestOf(fragments);
      const first = fragments[0] as Fragment;
      const link = c.request.first('Link', /esi/) ?? first.request.first('Begin');
      const whole = `It was assembled from ${fragments.length} ${fragments.length === 1 ? 'fragment' : 'fragments'} (${counted(fragments)})`;
      if (slowest === null)
        return { sentence: `${whole}.`, evidence: link === undefined ? [] : [link], hint: '' };
      const took = duration(Math.max(0, c.request.until - c.request.at));
      const one = `${path(slowest)} took longest, ${duration(slowest.own)} of the page's ${took} (${handlingName(slowest.handling)})`;
      const queue = oneByOne(fragments, slowest);
      const stamp = slowest.request.all('Timestamp').at(-1);
      return {
        sentence: `${whole}; ${one}${queue === 0 ? '' : `; fetched one after another they took ${duration(queue)}`}.`,
        evidence: [link, stamp].filter((e) => e !== undefined),
        hint: queue === 0 ? '' : 'The parameter esi_parallel sets how many are fetched at the same time.',
      };
    },
  },
  {
    name: 'esi-markup',
    explains: 'The ESI parser reported errors in the markup.',
    try: (c) => {
      for (const { url, facts } of fetches(c)) {
        const found = facts.all('ESI_xmlerror');
        const [first] = found;
        if (first === undefined) continue;
        const whyRaw = RAW.find(({ pattern }) => pattern.test(first.text));
        if (whyRaw !== undefined) {
          return {
            sentence: `ESI was not done on ${url}, whose body ${whyRaw.because}: it is delivered unprocessed, with its include tags.`,
            evidence: [first],
            hint: whyRaw.hint,
          };
        }
        const more = found.length > 1 ? ` and ${found.length - 1} more` : '';
        return {
          sentence: `The markup of ${url} has errors: ${first.text}${more}.`,
          evidence: found.slice(0, MOST_EVIDENCE),
          hint: 'The number is the byte offset in the body at which parsing stopped.',
        };
      }
      return null;
    },
  },
];
