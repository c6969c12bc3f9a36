// gunzip: unpacks a body on its way into the store (beresp.do_gunzip) or to a client that takes no gzip; testgunzip
// only sees that a packed body is whole before anybody is given its end (SAFETY rule 3).

import { Tag } from '../../protocol/tables/tags.ts';
import { weakenEtag } from '../http1/conditional.ts';
import type { HttpMessage, MessageLog } from '../http1/message.ts';
import type { DeliveryFilter, FetchFilter } from './filter.ts';
import { varyOnEncoding } from './gzip.ts';
import { Unpacker, unpackAtOnce } from './unpacker.ts';
import { type Conversion, ZlibProcessor, ZlibTest } from './zlib-processor.ts';

/** Packed and unpacked bytes that are done at once, on the thread that serves. */
const AT_ONCE = 16 * 1024;
const AT_ONCE_MADE = 64 * 1024;

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
    return (outlet) => {
      body.stats.n_gunzip++;
      return new ZlibProcessor(outlet, {
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
    return (outlet) => {
      body.stats.n_test_gunzip++;
      return new ZlibTest(outlet, {
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
    return (outlet) => {
      body.stats.n_gunzip++;
      const base = unpacking('U D', body.log, logBadDelivery);
      return new ZlibProcessor(outlet, {
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
    atOnce: (bytes) => (bytes.length > AT_ONCE ? null : unpackAtOnce(bytes, AT_ONCE_MADE)),
  };
}

/** What is wrong with a packed body, in the words of Varnish. */
function logBadGzip(log: MessageLog, error: Parameters<Conversion['broke']>[0]): void {
  if (error !== null && error.code !== 'Z_BUF_ERROR')
    log.put(Tag.Gzip, `Gunzip error: ${error.errno ?? 0} (${error.message})`);
}

function logBadDelivery(log: MessageLog, error: Parameters<Conversion['broke']>[0]): void {
  logBadGzip(log, error);
  if (error === null) log.put(Tag.Gzip, 'G(un)zip error: 1 (junk after VGZ_END)');
}

/** @param cut what is said of one that ends too soon */
function logBadFetch(log: MessageLog, error: Parameters<Conversion['broke']>[0], cut: string): void {
  logBadGzip(log, error);
  if (error === null) log.put(Tag.FetchError, 'Junk after gzip data');
  else if (error.code === 'Z_BUF_ERROR') log.put(Tag.FetchError, cut);
  else log.put(Tag.FetchError, `Invalid Gzip data: ${error.message}`);
}
