// Where proxyd differs from Varnish's daemon in machine-cases.ts, and why. A part that is not named must be the same.

import type { Known, Part } from './compare.ts';

const log = (reason: string): Known => ({ reason, parts: ['log'] });
const ok = (reason: string, parts: readonly Part[], n: number): Known => ({
  reason,
  parts,
  client: Array.from({ length: n }, () => '200 OK'),
});

const PACKER = 'two packers pack the same text to different lengths';
const TOO_SOON = 'whether a pass that nobody reads is still read to its end is a matter of time';
const RFC_LIFE = 'what cannot be read as freshness means stale (RFC 9111 sections 4.2.1 and 5.3)';

const SOON_ENOUGH = 'whether the second fetch finds the first one’s connection free is a matter of time';

export const MACHINE_KNOWN: Record<string, Known> = {
  'two clients, two variants': log(SOON_ENOUGH),
  'purge synthesises': log('the page has its own length'),
  'deliver restarts a pass': log(TOO_SOON),
  'condition of a pass': log(TOO_SOON),
  'body cached and restarted': log(TOO_SOON),
  'deliver without a length': ok('a whole body has its length told', ['client', 'log'], 2),
  'deliver says what is streamed': log('whether the fetch is over by then is a matter of time'),
  'response retries after a rollback': log('a rollback closes the connection a record later'),
  'ranges of a hit': {
    reason: 'a Range without `bytes=` is in unknown units and ignored (RFC 9110 section 14.2)',
    parts: ['client', 'log'],
  },
  'ranges of a head': ok('a range counts for GET alone (RFC 9110 section 14.2)', ['client', 'log'], 2),
  'range answered by the origin': log('a connection with a body that nobody reads is closed'),
  conditions: {
    reason: 'If-None-Match is a list or * (RFC 9110 section 13.1.2)',
    parts: ['client', 'log'],
  },
  'kept object packed here': ok(PACKER, ['client', 'log'], 2),
  'packed and unpacked': ok(PACKER, ['client', 'log'], 2),
  'packed of a pass': ok(PACKER, ['client', 'log'], 2),
  'gzip and an etag': {
    reason: PACKER,
    parts: ['client', 'log'],
    client: ['200 OK', '200 OK', '304 Not Modified'],
  },
  'filters shown with packing': log(PACKER),
  'filters set to gzip': ok(PACKER, ['client', 'log'], 2),
  'filters set to gunzip gzip': ok(PACKER, ['client', 'log'], 2),
  'head of a pass gzipped': ok('a HEAD tells the fields of the GET', ['client', 'log'], 1),
  'chunk sizes that are none': log('the log says which rule the chunks broke'),
  'gzip that is none': log('how much the unpacker took is not told'),
  'gzip cut short': log('how much the unpacker took is not told'),
  'unpacking none': log('how much the unpacker took is not told'),
  'eof while unpacking': log('how much the unpacker took is not told'),
  'filters shown of esi': log('the reason why a page is left alone'),
  'filters set to esi': ok('ESI is switched by do_esi', ['client', 'log'], 1),
  trailers: ok('trailers are read and dropped (RFC 9112 section 7.1.2)', ['client', 'origin', 'log'], 2),
  'trailers of a request': ok('trailers are read and dropped', ['client', 'log'], 2),
  'chunks with extensions': ok('extensions are read and dropped', ['client', 'log'], 1),
  'length and surplus bytes': log('a connection with surplus bytes is closed'),
  'length on a 204': log('the response is dated ahead of the check'),
  'a 204 with a body': log('the response is dated ahead of the check'),
  'eof by http 1.0': ok('without a length the end is the end (RFC 9112 section 6.3)', ['client', 'log'], 1),
  'length by http 1.0': log('whether the origin has closed yet is a matter of time'),
  'body sent and restarted': {
    reason: 'a body that is gone is not promised to an origin',
    parts: ['origin', 'log'],
  },
  'body cached and fetched': {
    reason: 'a GET that may be cached has no body, also when its body was cached',
    parts: ['origin', 'log'],
  },
  'chunks cached and restarted': log('the new framing is logged once'),
  'chunks too large to cache': {
    reason: 'a body over the limit is answered 400, as in Varnish 9',
    parts: ['client', 'log'],
    failure: true,
  },
  'body too large to cache': {
    reason: 'a body over the limit is answered 400, as in Varnish 9',
    parts: ['client', 'log'],
    failure: true,
  },
  '304 became a 500': {
    reason: 'an error of the origin leaves what can be revalidated',
    parts: ['origin', 'log'],
  },
  'grace and a failing origin': {
    reason: 'an error of the origin leaves what serves in grace',
    parts: ['client', 'log'],
  },
  'chunks retried': log('a chunked upload is accounted by its body'),
  'chunks by a pass of a get': log('a chunked body is read past after the response'),
  'expectation and a page': log('a body still on its way is read past after the response'),
  'answer before the body': log('a body still on its way is read past after the response'),
  'body that stops short': { reason: 'the page has its own length', parts: ['client', 'log'] },
  pipe: log('what Connection said is dropped unlogged'),
  'pipe with an upgrade': log('what Connection said is dropped unlogged'),
  'pipe of a cached body': log('a cached body is not counted among what the origin sent'),
  'pipe after a hit': log('a pipe takes no kept connection'),
  'filters of a delivery': { reason: 'nothing is answered', parts: [], failure: true },
  'next byte never comes': log('bytes of a body that was cut are accounted'),
  'next chunk never comes': log('the fetch error says which part is missing'),
  'rest of the head never comes': log('the timeout has one name'),
  'head cut short': log('bytes of a head that was cut are not accounted'),
  'cut of a pass': log('bytes of a body that was cut are accounted'),
  'life: expires rubbish': ok(RFC_LIFE, ['client', 'origin', 'log'], 2),
  'life: expires zero': ok(RFC_LIFE, ['client', 'origin', 'log'], 2),
  'life: expires minus one': ok(RFC_LIFE, ['client', 'origin', 'log'], 2),
  'life: vary star among others': ok('a * anywhere in Vary is a *', ['client', 'origin', 'log'], 2),
  'life: expires future': log('the life counts down between the two runs'),
  'two clients, uncacheable': log(SOON_ENOUGH),
  'two clients, and it fails': {
    reason: 'whether who waited meets the page whole or being made is a matter of time',
    parts: ['client', 'origin', 'log'],
    client: ['503 Backend fetch failed', '503 Backend fetch failed'],
  },
  'proxy fields': {
    reason: 'fields for proxies end here (RFC 9110 sections 7.6.1 and 11.7.2)',
    parts: ['origin', 'log'],
  },
};
