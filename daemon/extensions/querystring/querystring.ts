// The extension querystring: parameters of URLs cleaned, sorted, removed and filtered, so that one page has one key.

import type { VclContext } from '../../contract/context.ts';
import type { Extension, ExtensionFunction } from '../../contract/extension.ts';
import { byName, row } from '../extension-rows.ts';
import { isEmpty, joinQuery, sorted, splitQuery, unique } from './parameters.ts';
import { QueryFilter } from './query-filter.ts';

const OF = 'Without an argument the URL is that of the request.';

/** The URL that is meant; null where there is none. */
function meant(ctx: VclContext, url: string | null | undefined): string | null {
  if (url !== undefined) return url;
  return ctx.req?.http.url ?? ctx.bo?.bereq.url ?? null;
}

/** Changes the parameters that are not empty. */
function changed(
  ctx: VclContext,
  url: string | null | undefined,
  change: (parameters: readonly string[]) => readonly string[],
): string | null {
  const text = meant(ctx, url);
  const split = text === null ? null : splitQuery(text);
  if (split === null) return text;
  return joinQuery(split.path, change(split.parameters.filter((parameter) => !isEmpty(parameter))));
}

function adding(
  what: string,
  help: string,
  add: (self: QueryFilter, text: string) => void,
): ExtensionFunction {
  const call = (_ctx: VclContext, self: QueryFilter, text: string | null): void => add(self, text ?? '');
  return row(`VOID ${what}(STRING text)`, call, `${help} In vcl_init.`, { places: 'init' });
}

function apply(
  ctx: VclContext,
  self: QueryFilter,
  url: string | null | undefined,
  mode: 'keep' | 'drop',
): string | null {
  const text = meant(ctx, url);
  return text === null ? null : self.apply(text, mode === 'keep');
}

function sort(ctx: VclContext, url: string | null | undefined, uniq: boolean): string | null {
  return changed(ctx, url, (parameters) => (uniq ? unique(sorted(parameters)) : sorted(parameters)));
}

export const querystring: Extension = {
  name: 'querystring',
  help: 'parameters of URLs cleaned, sorted and filtered',
  // biome-ignore format: a row is a line
  functions: byName(
    row('STRING clean([STRING url])', (ctx, url?: string | null) => changed(ctx, url, (parameters) => parameters),
      `The URL without parameters that are empty or have no name, and without a question mark behind which nothing is left. ${OF}`),
    row('STRING remove([STRING url])', (ctx, url?: string | null) => changed(ctx, url, () => []), `The URL without its query. ${OF}`),
    row('STRING sort([STRING url], BOOL uniq=0)', sort,
      `The URL with its parameters in the order of their bytes, cleaned; with uniq each is there once. ${OF}`),
  ),
  objects: {
    filter: {
      signature: 'filter(BOOL sort=0, BOOL uniq=0, ENUM {name, param} match=name)',
      help:
        'A filter that looks at the names of parameters, or at whole parameters (match = param). What it gives is cleaned, ' +
        'and sorted or freed of repetitions where asked for.',
      create: (_ctx, _name, sort: boolean, uniq: boolean, match: 'name' | 'param') =>
        new QueryFilter({ sort, uniq, match }),
      // biome-ignore format: a row is a line
      methods: byName(
        adding('add_string', 'Adds a text that matches what is equal to it.', (self, text) => self.addText(text)),
        adding('add_glob', 'Adds a shell pattern, which matches as a whole.', (self, text) => self.addGlob(text)),
        adding('add_regex', 'Adds a regular expression; one that is wrong fails the load.', (self, text) => self.addRegex(text)),
        row('STRING apply([STRING url], ENUM {keep, drop} mode=keep)', apply,
          `The URL with the parameters that match, or with those that do not. ${OF}`),
      ),
    },
  },
};
