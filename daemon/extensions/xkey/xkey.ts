// The extensions xkey and hashtwo: purges by surrogate key. xkey follows vmod_xkey(3) of Varnish's module collection;
// hashtwo has the same functions under the name used in programs of Varnish's other edition, whose keys are in the
// header X-HashTwo.
//
// The parameter xkey_fields names the response headers with keys, both by default. Objects are indexed by their keys
// whether or not a program imports this, so that a program loaded later finds older objects, too.

import { Tag } from '../../../protocol/tables/tags.ts';
import type { VclContext } from '../../contract/context.ts';
import type { Extension } from '../../contract/extension.ts';
import { byName, row } from '../extension-rows.ts';

const SHOWN = 200;

function byKeys(name: string, help: string): Extension {
  const purged = (ctx: VclContext, keys: string | null, soft: boolean): number => {
    const text = keys ?? '';
    const count = ctx.host.purgeTags(text, soft, ctx);
    const shown = text.length > SHOWN ? `${text.slice(0, SHOWN)}...` : text;
    ctx.log.put(Tag.Notice, `${name}.${soft ? 'softpurge' : 'purge'} ${shown}: ${count}`);
    return count;
  };
  return {
    name,
    help,
    // biome-ignore format: a row is a line
    functions: byName(
      row('INT purge(STRING keys)', (ctx, keys: string | null) => purged(ctx, keys, false),
        'Purges the objects that carry one of the surrogate keys. Returns how many.'),
      row('INT softpurge(STRING keys)', (ctx, keys: string | null) => purged(ctx, keys, true), 'Makes them stale. Returns how many.'),
    ),
  };
}

export const xkey = byKeys('xkey', 'purging by surrogate keys');
export const hashtwo = byKeys('hashtwo', 'purging by surrogate keys, under its other name');
