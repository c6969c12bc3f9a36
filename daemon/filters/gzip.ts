// gzip packs a fetched body (beresp.do_gzip); gunzip unpacks one on its way into the store (beresp.do_gunzip) or to a
// client that takes no gzip; testgunzip only checks that a packed body is whole before anybody is given its end (SAFETY
// rule 3).

import { createGzip, type Gzip, gzipSync } from 'node:zlib';
import { Tag } from '../../protocol/tables/tags.ts';
import { weakenEtag } from '../http1/conditional.ts';
import type { HttpMessage, MessageLog } from '../http1/message.ts';
import type { DeliveryFilter, FetchedBody, FetchFilter } from './filter.ts';
import {
  type Conversion,
  type Engine,
  type EngineEvents,
  Unpacker,
  unpackAtOnce,
  ZlibFlow,
  ZlibTest,
} from './zlib-filter.ts';

/** Bytes that are packed at once: as measured, up to here the thread that serves has less to do than with a stream. */
const PACKED_AT_ONCE = 8 * 1024;

export const GZIP: FetchFilter = {
  name: 'gzip',
  side: 'fetch',
  wanted: (head, { doGzip, doEsi }, params) =>
    doGzip && !doEsi && params.http_gzip_support !== 0 && !head.has('content-encoding'),
  open(body) {
    const { head } = body;
    if (head.has('content-encoding')) return null;
    head.unset('content-length');
    weakenEtag(head);
    head.set('Content-Encoding', 'gzip');
    varyOnEncoding(head);
    body.gzipped = true;
    body.recoded = true;
    return (next) => {
      body.stats.n_gzip++;
      return new ZlibFlow(next, packing(body));
    };
  },
};

function packing(body: FetchedBody): Conversion {
  const { gzip_level, gzip_memlevel, gzip_buffer } = body.params;
  const options = { level: gzip_level, memLevel: gzip_memlevel, chunkSize: gzip_buffer };
  return {
    record: 'G F',
    log: body.log,
    open: (events) => packer(createGzip(options), events),
    atOnce: (bytes) => (bytes.length > PACKED_AT_ONCE ? null : gzipSync(bytes, options)),
    passed: (taken) => {
      body.unpacked = taken;
    },
    // Packing has no way to fail.
    broke: () => undefined,
  };
}

function packer(zip: Gzip, events: EngineEvents): Engine {
  zip.on('data', events.data);
  zip.on('end', events.end);
  zip.on('error', (error) => events.error(error, zip.bytesWritten));
  return zip;
}

/** Of a body that is packed there are two forms, by what the client takes. */
export function varyOnEncoding(head: HttpMessage): void {
  const vary = head.getAll('vary');
  if (vary === null) head.add('Vary', 'Accept-Encoding', 'vary');
  else if (!/(^|,)\s*accept-encoding\s*(,|$)/i.test(vary)) head.set('Vary', `${vary}, Accept-Encoding`);
}

/** Packed and unpacked bytes that are done at once, on the thread that serves. */
const UNPACKED_AT_ONCE = 16 * 1024;
const UNPACKED_MADE = 64 * 1024;

export function isGzip(head: HttpMessage): boolean {
  const coding = head.get('content-encoding');
  return coding !== null && coding.toLowerCase() === 'gzip';
}

export const GUNZIP_FETCHED: FetchFilter = {
  name: 'gunzip',
  side: 'fetch',
  // The parser of edge-side includes reads plain bytes.
  wanted: (head, { doGunzip, doEsi }, params) =>
    isGzip(head) && (doEsi || (doGunzip && params.http_gzip_support !== 0)),
  open(body) {
    const { head } = body;
    if (!isGzip(head)) return null;
    head.unset('content-encoding');
    head.unset('content-length');
    weakenEtag(head);
    body.gzipped = false;
    body.recoded = true;
    return (next) => {
      body.stats.n_gunzip++;
      return new ZlibFlow(next, {
        ...unpacking('U F', body.log, (log, error) =>
          logBadFetch(log, error, 'Gunzip error at the very end'),
        ),
        passed: () => undefined,
      });
    };
  },
};

export const TEST_GUNZIP: FetchFilter = {
  name: 'testgunzip',
  side: 'fetch',
  // Without gzip support, too: clients of both kinds then get what the origin chose, but none gets half of it.
  wanted: (head, { doGunzip, doEsi }, params) =>
    isGzip(head) && !doEsi && !(doGunzip && params.http_gzip_support !== 0),
  open(body) {
    if (!isGzip(body.head)) return null;
    varyOnEncoding(body.head);
    body.gzipped = true;
    return (next) => {
      body.stats.n_test_gunzip++;
      return new ZlibTest(next, {
        ...unpacking('u F', body.log, (log, error) => logBadFetch(log, error, 'tGunzip failed')),
        passed: (_taken, made) => {
          body.unpacked = made;
        },
      });
    };
  },
};

export const GUNZIP_DELIVERED: DeliveryFilter = {
  name: 'gunzip',
  side: 'delivery',
  wanted: ({ isStoredGzip, canGzip }, params) => isStoredGzip && params.http_gzip_support !== 0 && !canGzip,
  open(body) {
    // Varnish takes an unpacked length of nothing for one that is not known.
    const known = body.gzipped && body.isSource && !body.isPart && body.unpacked > 0;
    body.gzipped = false;
    body.length = known ? body.unpacked : -1;
    body.head.unset('content-encoding');
    return (next) => {
      body.stats.n_gunzip++;
      const base = unpacking('U D', body.log, logBadDelivery);
      return new ZlibFlow(next, {
        ...base,
        // Of nothing nothing is broken.
        atOnce: (bytes) => (bytes.length === 0 ? bytes : base.atOnce(bytes)),
        passed: () => undefined,
      });
    };
  },
};

/** @param broke logs what is wrong with a packed body */
function unpacking(record: string, log: MessageLog, broke: typeof logBadGzip): Omit<Conversion, 'passed'> {
  return {
    record,
    log,
    broke: (error) => broke(log, error),
    open: (events) => new Unpacker(events),
    // Too much, or broken: the stream does the one within bounds, and says what is wrong with the other.
    atOnce: (bytes) => (bytes.length > UNPACKED_AT_ONCE ? null : unpackAtOnce(bytes, UNPACKED_MADE)),
  };
}

/** Logs the fault of a packed body, in the words of Varnish. */
function logBadGzip(log: MessageLog, error: Parameters<Conversion['broke']>[0]): void {
  if (error !== null && error.code !== 'Z_BUF_ERROR')
    log.put(Tag.Gzip, `Gunzip error: ${error.errno ?? 0} (${error.message})`);
}

function logBadDelivery(log: MessageLog, error: Parameters<Conversion['broke']>[0]): void {
  logBadGzip(log, error);
  if (error === null) log.put(Tag.Gzip, 'G(un)zip error: 1 (junk after VGZ_END)');
}

/** @param cut the text for one that ends too soon */
function logBadFetch(log: MessageLog, error: Parameters<Conversion['broke']>[0], cut: string): void {
  logBadGzip(log, error);
  if (error === null) log.put(Tag.FetchError, 'Junk after gzip data');
  else if (error.code === 'Z_BUF_ERROR') log.put(Tag.FetchError, cut);
  else log.put(Tag.FetchError, `Invalid Gzip data: ${error.message}`);
}
