// What a connection keeps from one request to the next, because making it costs more than emptying it: messages with
// their arrays, the log, and the records of a lookup. Everything else of a request is made new with it. Each part is
// emptied by the constructor of Request or overwritten by the one step that uses it; a test holds them to that.

import { Tag } from '../../protocol/tables/tags.ts';
import { LookupQuery, LookupResult } from '../cache/lookup-query.ts';
import { HttpMessage } from '../http1/message.ts';
import type { TxLog } from '../log/tx-log.ts';
import type { Core } from './core.ts';
import { ObjectView } from './object-view.ts';

export class RequestBuffers {
  readonly http = new HttpMessage(Tag.ReqMethod);
  readonly resp = new HttpMessage(Tag.RespMethod);
  /** Holds the head as it came, for programs that roll back. */
  readonly original = new HttpMessage(Tag.ReqMethod);
  readonly log: TxLog;
  readonly lookup = new LookupResult();
  readonly query = new LookupQuery(this.http);
  readonly objectView: ObjectView;

  constructor(core: Core) {
    this.log = core.newLog();
    this.objectView = new ObjectView(core);
    this.query.onBanned = (vxid) => this.log.put(Tag.ExpBan, `${vxid} banned lookup`);
  }
}
