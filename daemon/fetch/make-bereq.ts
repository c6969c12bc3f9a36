// The request to the origin, made from the client's: what concerns only one connection goes, and on a fetch
// that may be cached also everything that asks for less than the whole object (SAFETY rule 7).

import { Tag } from '../../protocol/tables/tags.ts';
import { copyOnward, HOP_FETCH, HOP_PASS } from '../http1/hop-by-hop.ts';
import type { Request } from '../transaction/request.ts';
import type { BusyObj } from './busyobj.ts';
import { addCondition } from './condition.ts';

export function makeBereq(bo: BusyObj, req: Request): void {
  const { bereq, core, log } = bo;
  const cacheable = bo.mode !== 'pass';
  const { http } = req;
  copyOnward(http, bereq, cacheable ? HOP_FETCH : HOP_PASS);
  bo.askedRange = bereq.get('range');
  // The body is framed again when it is sent.
  bereq.unset('transfer-encoding');
  bereq.method = http.method;
  bereq.url = http.url;
  bereq.proto = http.proto;
  log.put(Tag.BereqMethod, bereq.method);
  log.put(Tag.BereqURL, bereq.url);
  log.put(Tag.BereqProtocol, bereq.proto);
  bereq.logFields(log);
  bereq.log = log;
  if (cacheable) {
    // Only a GET answers a GET, whatever the client asked (SAFETY rule 7).
    if (bereq.method !== 'GET') bereq.setMethod('GET');
    if (core.params.http_gzip_support !== 0 && bereq.get('accept-encoding') !== 'gzip') {
      bereq.set('Accept-Encoding', 'gzip');
    }
  }
  if (bereq.proto !== 'HTTP/1.1') bereq.setProto('HTTP/1.1');
  if (bo.staleOc !== 0) addCondition(bo);
  if (bo.programRef.keepsFetch) bo.bereq0.copyFrom(bereq);
  // Built in the log and read back from there: that costs less than joining strings.
  log.open().text(core.idHeader.start).int(bo.attempt.vxid);
  bereq.push(core.idHeader.key, log.closeText(Tag.BereqHeader));
}
