// The extension xkey: purges by surrogate key, whatever the objects' URLs are. Follows vmod_xkey(3) of Varnish's
// module collection.
//
// Which fields of a response hold its keys is the parameter xkey_fields. Objects are filed under their keys whether
// or not a program imports this, so that a program that is loaded later finds the older objects too.

import { Tag } from '../../../protocol/tables/tags.ts';
import type { VclContext } from '../../contract/context.ts';
import type { Extension } from '../../contract/extension.ts';

const SHOWN = 200;

function purged(ctx: VclContext, keys: string | null, soft: boolean): number {
  const text = keys ?? '';
  const count = ctx.host.purgeTags(text, soft);
  const shown = text.length > SHOWN ? `${text.slice(0, SHOWN)}...` : text;
  ctx.log.put(Tag.Notice, `xkey.${soft ? 'softpurge' : 'purge'} ${shown}: ${count}`);
  return count;
}

export const xkey: Extension = {
  name: 'xkey',
  help: 'purging by surrogate keys',
  functions: {
    purge: {
      signature: 'INT purge(STRING keys)',
      help: 'Purges the objects that carry one of the surrogate keys. Returns how many.',
      call: (ctx, keys: string | null) => purged(ctx, keys, false),
    },
    softpurge: {
      signature: 'INT softpurge(STRING keys)',
      help: 'Makes them stale. Returns how many.',
      call: (ctx, keys: string | null) => purged(ctx, keys, true),
    },
  },
};
