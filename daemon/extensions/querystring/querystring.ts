// The extension querystring: parameters of URLs cleaned, sorted, removed and filtered, so that one page has one key.

import type { VclContext } from '../../contract/context.ts';
import type { Extension, ExtensionMethod } from '../../contract/extension.ts';
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

function adding(what: string, help: string, add: (self: QueryFilter, text: string) => void): ExtensionMethod {
  return {
    signature: `VOID ${what}(STRING text)`,
    help: `${help} In vcl_init.`,
    places: 'init',
    call: (_ctx, self: QueryFilter, text: string | null) => add(self, text ?? ''),
  };
}

export const querystring: Extension = {
  name: 'querystring',
  help: 'parameters of URLs cleaned, sorted and filtered',
  functions: {
    clean: {
      signature: 'STRING clean([STRING url])',
      help: `The URL without parameters that are empty or have no name, and without a question mark behind which nothing is left. ${OF}`,
      call: (ctx, url?: string | null) => changed(ctx, url, (parameters) => parameters),
    },
    remove: {
      signature: 'STRING remove([STRING url])',
      help: `The URL without its query. ${OF}`,
      call: (ctx, url?: string | null) => changed(ctx, url, () => []),
    },
    sort: {
      signature: 'STRING sort([STRING url], BOOL uniq=0)',
      help: `The URL with its parameters in the order of their bytes, cleaned; with uniq each is there once. ${OF}`,
      call: (ctx, url: string | null | undefined, uniq: boolean) =>
        changed(ctx, url, (parameters) => (uniq ? unique(sorted(parameters)) : sorted(parameters))),
    },
  },
  objects: {
    filter: {
      signature: 'filter(BOOL sort=0, BOOL uniq=0, ENUM {name, param} match=name)',
      help:
        'A filter that looks at the names of parameters, or at whole parameters (match = param). What it gives is cleaned, ' +
        'and sorted or freed of repetitions where asked for.',
      create: (_ctx, _name, sort: boolean, uniq: boolean, match: 'name' | 'param') =>
        new QueryFilter({ sort, uniq, match }),
      methods: {
        add_string: adding('add_string', 'Adds a text that matches what is equal to it.', (self, text) =>
          self.addText(text),
        ),
        add_glob: adding('add_glob', 'Adds a shell pattern, which matches as a whole.', (self, text) =>
          self.addGlob(text),
        ),
        add_regex: adding(
          'add_regex',
          'Adds a regular expression; one that is wrong fails the load.',
          (self, text) => self.addRegex(text),
        ),
        apply: {
          signature: 'STRING apply([STRING url], ENUM {keep, drop} mode=keep)',
          help: `The URL with the parameters that match, or with those that do not. ${OF}`,
          call: (ctx, self: QueryFilter, url: string | null | undefined, mode: 'keep' | 'drop') => {
            const text = meant(ctx, url);
            return text === null ? null : self.apply(text, mode === 'keep');
          },
        },
      },
    },
  },
};
