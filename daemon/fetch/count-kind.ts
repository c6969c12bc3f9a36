// Counts a response by how its body is framed, as soon as its head is there: whatever the program makes of it.

import type { BodyFraming } from '../http1/framing.ts';
import type { BusyObj } from './busyobj.ts';

export function countKind(bo: BusyObj, framing: BodyFraming): void {
  const { stats } = bo.core;
  if (bo.bereq.method === 'HEAD') stats.fetch_head++;
  else if (bo.beresp.status === 204) stats.fetch_204++;
  else if (bo.beresp.status === 304) stats.fetch_304++;
  else
    switch (framing.kind) {
      case 'none':
        stats.fetch_none++;
        break;
      case 'length':
        stats.fetch_length++;
        break;
      case 'chunked':
        stats.fetch_chunked++;
        break;
      case 'eof':
        stats.fetch_eof++;
        break;
      default:
        stats.fetch_bad++;
    }
}
