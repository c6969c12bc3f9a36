// gzip: packs a fetched body (beresp.do_gzip).

import { createGzip, type Gzip, gzipSync } from 'node:zlib';
import { weakenEtag } from '../http1/conditional.ts';
import type { HttpMessage } from '../http1/message.ts';
import type { FetchedBody, FetchFilter } from './filter.ts';
import { type Conversion, type Engine, type EngineEvents, ZlibProcessor } from './zlib-processor.ts';

/** Bytes that are packed at once: as measured, up to here the thread that serves has less to do than with a stream. */
const AT_ONCE = 8 * 1024;

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
    return (outlet) => {
      body.stats.n_gzip++;
      return new ZlibProcessor(outlet, packing(body));
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
    atOnce: (bytes) => (bytes.length > AT_ONCE ? null : gzipSync(bytes, options)),
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
