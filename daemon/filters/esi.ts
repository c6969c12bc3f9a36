// esi and esi_gzip: edge-side includes. Their names exist, so that programs that ask for them load and run; bodies pass
// as they are, and the log says so.

import { Tag } from '../../protocol/tables/tags.ts';
import type { FetchFilter, FetchWishes } from './filter.ts';

const idle = (name: string, wants: (wishes: FetchWishes) => boolean): FetchFilter => ({
  name,
  side: 'fetch',
  wanted: (_head, wishes) => wants(wishes),
  open({ log }) {
    log.put(Tag.Notice, `${name}: ESI is not processed, the body goes as it came`);
    return null;
  },
});

export const ESI = idle('esi', ({ doEsi }) => doEsi);
/** Only by name: without includes to parse, `esi` and `gzip` do the same. */
export const ESI_GZIP = idle('esi_gzip', () => false);
