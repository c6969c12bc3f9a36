// Rules for lookup results, and for requests without a lookup.

import { duration } from '../../../model/ui/numbers.ts';
import { type BanFact, banMatches } from './ban-match.ts';
import {
  addedBy,
  ago,
  madeStale,
  objects,
  type Purge,
  purgeOf,
  purgeText,
  staleByBan,
  tookObject,
} from './purges.ts';
import type { Evidence, Facts } from './request-facts.ts';
import { uncacheable } from './uncacheable.ts';
import type { Case, Rule } from './why-case.ts';

const CACHED_METHODS = ['GET', 'HEAD'];

const some = (...evidence: (Evidence | undefined)[]): Evidence[] =>
  evidence.filter((e): e is Evidence => e !== undefined);

/** The fetch that stored an object, if the log still has it. */
function fetchOf(c: Case, vxid: number): Facts | null {
  if (c.fetch?.vxid === vxid) return c.fetch;
  return c.former.find((f) => f.fetch?.vxid === vxid)?.fetch ?? null;
}

const pass = (c: Case): Evidence | null => {
  const recv = c.request.step('RECV');
  return recv?.returned === 'pass' ? recv.evidence : null;
};

/** The ban's expression, and the request that added it. */
function named(c: Case, ban: BanFact | undefined): string {
  return ban === undefined ? '' : `"${ban.spec}"${addedBy(ban, c.purges, c.request.at)}`;
}

function whatItTook({ kind, soft, subject, count, request }: Purge): string {
  const became = soft ? 'became stale' : 'left the cache';
  const many = count === null ? '' : `: ${objects(count)}`;
  switch (kind) {
    case 'ban':
      return `This was a ${soft ? 'soft ' : ''}ban: objects that match ${subject === '' ? 'its expression, which is not in the request,' : `"${subject}"`} and are older ${soft ? 'are stale' : 'are no longer delivered'}.`;
    case 'keys':
      return `This was a ${soft ? 'soft ' : ''}purge by surrogate key: objects with ${subject.split(/[\s,]+/).join(' or ')} ${became}${many}.`;
    case 'url':
      return request.step('RECV')?.returned === 'purge'
        ? 'This was a purge: the program returned purge, and every variant of the object left the cache.'
        : `This was a ${soft ? 'soft ' : ''}purge: the program answered ${request.first('ReqMethod')?.text} ${request.url} with ${request.status} ${request.last('RespReason')}${count === null ? '' : `, and ${count === 0 ? 'nothing' : objects(count)} ${became}`}.`;
  }
}

/** The log does not distinguish a pass by the program from one by the builtin program appended to it. */
const BY_BUILTIN =
  'and the builtin program (http_profile=classic) passes such requests unless the VCL decides first';

export const LOOKUP_RULES: readonly Rule[] = [
  {
    name: 'purge',
    explains: 'The request was a purge.',
    try: ({ request }) => {
      const purge = purgeOf(request);
      return purge === null ? null : { sentence: whatItTook(purge), evidence: purge.evidence, hint: '' };
    },
  },
  {
    name: 'synth',
    explains: 'The program answered itself, before a lookup or after it.',
    try: ({ request }) => {
      const step = request.steps.find((s) => s.returned === 'synth');
      if (step === undefined || !/^(RECV|HIT|MISS|PASS)$/.test(step.state)) return null;
      const asked = step.state === 'RECV' ? 'neither cache nor backend' : 'no backend';
      return {
        sentence: `The program answered itself: vcl_${step.state.toLowerCase()} returned synth with ${request.status} ${request.last('RespReason')}; ${asked} was contacted.`,
        evidence: some(step.evidence, request.first('RespStatus')),
        hint: '',
      };
    },
  },
  {
    name: 'pipe',
    explains: 'The connection was piped to the backend.',
    try: ({ request }) => {
      const recv = request.step('RECV');
      if (recv?.returned !== 'pipe' && request.step('PIPE') === undefined) return null;
      return {
        sentence: `It was piped: bytes were forwarded both ways unparsed${/^(GET|HEAD|POST|PUT|DELETE|OPTIONS|TRACE|PATCH)$/.test(request.method) ? '' : `, because the method ${request.method} is none that the builtin program knows`}.`,
        evidence: some(request.first('ReqMethod'), recv?.evidence),
        hint: '',
      };
    },
  },
  {
    name: 'method',
    explains: 'Requests with this method are not looked up.',
    try: (c) => {
      const returned = pass(c);
      if (returned === null || CACHED_METHODS.includes(c.request.method)) return null;
      return {
        sentence: `It was passed because of its method: ${c.request.method} is never answered from the cache.`,
        evidence: some(c.request.first('ReqMethod'), returned),
        hint: '',
      };
    },
  },
  {
    name: 'authorization',
    explains: 'It was passed, and has an Authorization header.',
    try: (c) => {
      const returned = pass(c);
      if (returned === null || !c.request.request.has('authorization')) return null;
      return {
        sentence: `It was passed in vcl_recv. It has an Authorization header, ${BY_BUILTIN}.`,
        evidence: some(c.request.header('request', 'authorization'), returned),
        hint: 'A program that returns hash before the builtin vcl_recv must keep users apart itself.',
      };
    },
  },
  {
    name: 'cookie',
    explains: 'It was passed, and has a Cookie.',
    try: (c) => {
      const returned = pass(c);
      if (returned === null || !c.request.request.has('cookie')) return null;
      return {
        sentence: `It was passed in vcl_recv. It has a Cookie, ${BY_BUILTIN}.`,
        evidence: some(c.request.header('request', 'cookie'), returned),
        hint: 'Remove cookies that do not affect the page, or unset req.http.Cookie.',
      };
    },
  },
  {
    name: 'far-range',
    explains: 'It requested a range far ahead of the part fetched so far.',
    try: (c) => {
      const notice = c.request.first('Notice', /^Range begins \d+ bytes after what has come/);
      if (notice === undefined) return null;
      return {
        sentence: `It was passed: the object is still being fetched, and its range begins ${/\d+/.exec(notice.text)?.[0]} bytes beyond the part received so far.`,
        evidence: [notice],
        hint: 'The parameter range_ahead sets how far ahead a request waits.',
      };
    },
  },
  {
    name: 'parts',
    explains: 'Parts of the object were in the cache, and others were fetched.',
    try: (c) => {
      const notice = c.request.first('Notice', /^Parts of \d+ bytes/);
      if (notice === undefined || c.request.first('Hit') === undefined) return null;
      const [total, , fetched] = (notice.text.match(/\d+/g) ?? []).map(Number);
      if (fetched === 0) return null;
      return {
        sentence: `Only parts of the object, which has ${total} bytes, are in the cache. ${fetched} more had to be fetched for this request.`,
        evidence: [notice],
        hint: 'Parts are kept with req.parts, or with http_profile=rfc9111; each range completes the object.',
      };
    },
  },
  {
    name: 'slices',
    explains: 'The object was in the cache, and slices of it were fetched.',
    try: (c) => {
      const notice = c.request.first('Notice', /^Slices \d+-\d+ of \d+/);
      if (notice === undefined || c.request.first('Hit') === undefined) return null;
      const [from, to, all, size, hits, fetched] = (notice.text.match(/\d+/g) ?? []).map(Number);
      if (fetched === 0) return null;
      return {
        sentence: `The object is in the cache in ${all} slices of ${size} bytes. Of the requested slices ${from} to ${to}, ${hits} were cached and ${fetched} had to be fetched.`,
        evidence: [notice],
        hint: 'Each slice is fetched by the first request that needs it. req.slice sets their size.',
      };
    },
  },
  {
    name: 'disk',
    explains: 'It was on disk.',
    try: (c) => {
      const notice = c.request.first('Notice', /^Disk: found$/);
      if (notice === undefined || c.request.first('Hit') === undefined) return null;
      return {
        sentence: 'It was on disk: no longer in memory, or not loaded since the start.',
        evidence: [notice],
        hint: 'More memory (-s malloc) means fewer reads from disk.',
      };
    },
  },
  {
    name: 'disk-failed',
    explains: 'It was on disk, but could not be used.',
    try: (c) => {
      const notice = c.request.first(
        'Notice',
        /^Disk: (a checksum|it cannot|a read|too many|no room|larger than memory)/,
      );
      if (notice === undefined) return null;
      return {
        sentence: `It was on disk, but could not be used: ${notice.text.slice('Disk: '.length)}.`,
        evidence: [notice],
        hint: notice.text.includes('memory')
          ? 'More memory (-s malloc), or req.slice: an object in slices needs no more memory than some of them.'
          : 'The Storage view (8) shows the disk errors; storage.check verifies the whole disk.',
      };
    },
  },
  {
    name: 'return-pass',
    explains: 'The program itself returned pass.',
    try: (c) => {
      const returned = pass(c);
      if (returned !== null)
        return {
          sentence:
            'It was passed because the VCL returned pass in vcl_recv; its method, Authorization and Cookie headers are no reason for the builtin program to pass.',
          evidence: [returned],
          hint: 'The Programs view (5) shows its source.',
        };
      const step = c.request.steps.find(
        (s) => (s.state === 'HIT' || s.state === 'MISS') && s.returned === 'pass',
      );
      if (step === undefined) return null;
      return {
        sentence: `It was passed because the program returned pass in vcl_${step.state.toLowerCase()}, after the lookup.`,
        evidence: [step.evidence],
        hint: 'The Programs view (5) shows its source.',
      };
    },
  },
  {
    name: 'hit-for-pass',
    explains: 'A hit-for-pass object is in the cache.',
    try: (c) => {
      const mark = c.request.first('HitPass');
      if (mark === undefined) return null;
      const [id = '', left = ''] = mark.text.split(' ');
      const maker = fetchOf(c, Number(id));
      const cause = maker === null ? null : uncacheable(maker);
      return {
        sentence: `It was passed by the hit-for-pass object ${id}${cause === null ? '' : `, because ${cause.because}`}; this lasts for another ${duration(Math.max(0, Number(left)))}.`,
        evidence: [mark, ...(cause?.evidence ?? [])],
        hint: '',
      };
    },
  },
  {
    name: 'hit-for-miss',
    explains: 'A hit-for-miss object is in the cache.',
    try: (c) => {
      const mark = c.request.first('HitMiss');
      if (mark === undefined) return null;
      const [id = '', left = ''] = mark.text.split(' ');
      const maker = fetchOf(c, Number(id));
      // Without the fetch that stored the hit-for-miss object, this request's own fetch is the best evidence.
      const cause = maker === null ? (c.fetch === null ? null : uncacheable(c.fetch)) : uncacheable(maker);
      const because =
        cause === null
          ? ''
          : maker === null
            ? ` (nor is this one, because ${cause.because})`
            : `, because ${cause.because}`;
      return {
        sentence: `It was a hit-for-miss: the response of ${id} was not cacheable${because}; this lasts for another ${duration(Math.max(0, Number(left)))}.`,
        evidence: [mark, ...(cause?.evidence ?? [])],
        hint: '',
        apart: cause?.because ?? '',
      };
    },
  },
  {
    name: 'banned',
    explains: 'The object was cached, but a ban removed it.',
    try: (c) => {
      const found = c.request.all('ExpBan').at(-1);
      if (found === undefined || c.request.first('Hit') !== undefined) return null;
      const id = Number.parseInt(found.text, 10);
      const maker = fetchOf(c, id);
      const after = c.bans.filter(
        (b) =>
          !b.soft && (maker === null || b.at >= maker.at) && (c.request.at === 0 || b.at <= c.request.until),
      );
      const sure = after.filter((b) => banMatches(b.spec, c.request, maker) === 'yes');
      const maybe = after.filter((b) => banMatches(b.spec, c.request, maker) === 'maybe');
      const which =
        sure.length > 0
          ? ` by the ban ${named(c, sure[0])}`
          : maybe.length > 0
            ? `, maybe by the ban ${named(c, maybe[0])}`
            : c.bansKnown
              ? '; the ban is no longer in the list'
              : '';
      return {
        sentence: `It was in the cache as ${id}, but banned${which}; it was fetched again.`,
        evidence: [found],
        hint: 'The Bans view (7) lists the bans in force.',
      };
    },
  },
  {
    name: 'grace',
    explains: 'The object had expired and was served in grace.',
    try: (c) => {
      const hit = c.request.first('Hit');
      if (hit === undefined) return null;
      const [id = '', ttl = '', grace = ''] = hit.text.split(' ');
      if (Number(ttl) >= 0) return null;
      const refresh = c.request.first('Link', /bgfetch/);
      const end = c.request.at + Number(ttl);
      const maker = fetchOf(c, Number(id));
      const soft = c.purges.find((p) => madeStale(p, end) && tookObject(p, c.request, maker));
      const ban = soft === undefined ? staleByBan(c.bans, end, c.request, maker) : undefined;
      const why =
        soft !== undefined
          ? `was made stale ${ago(c.request.at, soft)} ago by request ${soft.request.vxid} (${purgeText(soft)})`
          : ban !== undefined
            ? `was made stale ${duration(-Number(ttl))} ago by the soft ban "${ban.spec}"`
            : `expired ${duration(-Number(ttl))} ago`;
      return {
        sentence: `A hit in grace: object ${id} ${why}, and its grace is ${duration(Number(grace))}${refresh === undefined ? '; another request is refetching it' : `; it is fetched again in the background (${refresh.text.split(' ')[1]})`}.`,
        evidence: some(hit, refresh, ...(soft?.evidence ?? [])),
        hint: '',
      };
    },
  },
  {
    name: 'waited',
    explains: 'It waited for the fetch of another request.',
    try: (c) => {
      const hit = c.request.first('Hit');
      const waited = c.request.times.get('Waitinglist');
      if (hit === undefined || waited === undefined) return null;
      return {
        sentence: `A hit after waiting ${duration(waited.since)} for another request’s fetch of the same object (${hit.text.split(' ')[0]}).`,
        evidence: some(c.request.first('Timestamp', /^Waitinglist/), hit),
        hint: '',
      };
    },
  },
  {
    name: 'streaming-hit',
    explains: 'The object was still being fetched.',
    try: (c) => {
      const hit = c.request.first('Hit');
      const [id, , , , fetched] = hit?.text.split(' ') ?? [];
      if (hit === undefined || fetched === undefined) return null;
      return {
        sentence: `A hit on object ${id} while it was still being fetched: ${fetched} bytes were there, and the rest was streamed.`,
        evidence: [hit],
        hint: '',
      };
    },
  },
  {
    name: 'hit',
    explains: 'A fresh object was in the cache.',
    try: (c) => {
      const hit = c.request.first('Hit');
      if (hit === undefined) return null;
      const [id = '', ttl = ''] = hit.text.split(' ');
      const maker = fetchOf(c, Number(id));
      const age =
        maker === null || maker.until === 0
          ? ''
          : `, fetched ${duration(Math.max(0, c.request.at - maker.until))} ago,`;
      const again = c.request.step('HIT')?.returned === 'miss' || c.request.step('HIT')?.returned === 'fetch';
      return {
        sentence: again
          ? `Object ${id} was found, but the program returned ${c.request.step('HIT')?.returned} in vcl_hit and it was fetched again.`
          : `A hit: object ${id}${age} is fresh for another ${duration(Number(ttl))}.`,
        evidence: some(hit, again ? c.request.step('HIT')?.evidence : undefined),
        hint: '',
      };
    },
  },
];
