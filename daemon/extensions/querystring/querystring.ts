// The extension querystring: cleans, sorts, removes and filters URL parameters, so that one page has one key.

import { matchesGlob } from '../../../queries/fnmatch.ts';
import { type BoundedRegex, compileRegex } from '../../../queries/regex/bounded-regex.ts';
import type { VclContext } from '../../contract/context.ts';
import type { Extension, ExtensionFunction } from '../../contract/extension.ts';
import { ExtensionError } from '../../contract/failure.ts';
import { byName, row } from '../extension-rows.ts';

const OF = 'Without an argument the URL is that of the request.';

/** The URL given or of the request; null if there is none. */
function meant(ctx: VclContext, url: string | null | undefined): string | null {
  if (url !== undefined) return url;
  return ctx.req?.http.url ?? ctx.bo?.bereq.url ?? null;
}

/** Applies a change to the parameters that are not empty. */
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
      `The URL without parameters that are empty or have no name, and without a trailing question mark. ${OF}`),
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
        adding('add_string', 'Adds a text, which matches if equal.', (self, text) => self.addText(text)),
        adding('add_glob', 'Adds a shell pattern, which matches as a whole.', (self, text) => self.addGlob(text)),
        adding('add_regex', 'Adds a regular expression; one that is wrong fails the load.', (self, text) => self.addRegex(text)),
        row('STRING apply([STRING url], ENUM {keep, drop} mode=keep)', apply,
          `The URL with the parameters that match, or with those that do not. ${OF}`),
      ),
    },
  },
};

// A filter of query parameters: names, globs and regular expressions that a program adds in vcl_init. A parameter
// matches if any of them does.

interface FilterWays {
  readonly sort: boolean;
  readonly uniq: boolean;
  /** Whether patterns match the name or the whole parameter. */
  readonly match: 'name' | 'param';
}

class QueryFilter {
  readonly #ways: FilterWays;
  readonly #texts = new Set<string>();
  readonly #globs: string[] = [];
  readonly #regexes: BoundedRegex[] = [];

  constructor(ways: FilterWays) {
    this.#ways = ways;
  }

  addText(text: string): void {
    this.#texts.add(text);
  }

  addGlob(glob: string): void {
    this.#globs.push(glob);
  }

  /** Throws ExtensionError for an invalid regular expression. */
  addRegex(pattern: string): void {
    try {
      this.#regexes.push(compileRegex(pattern));
    } catch (cause) {
      throw new ExtensionError(`querystring: "${pattern}": ${(cause as Error).message}`);
    }
  }

  /** The URL with the parameters that match (`keep`) or that do not. Empty ones are always removed. */
  apply(url: string, keep: boolean): string {
    const split = splitQuery(url);
    if (split === null) return url;
    const { sort, uniq } = this.#ways;
    let left: readonly string[] = split.parameters.filter(
      (parameter) => !isEmpty(parameter) && this.#matches(parameter) === keep,
    );
    if (sort) left = sorted(left);
    if (uniq) left = unique(left);
    return joinQuery(split.path, left);
  }

  #matches(parameter: string): boolean {
    const text = this.#ways.match === 'name' ? nameOf(parameter) : parameter;
    return (
      this.#texts.has(text) ||
      this.#globs.some((glob) => matchesGlob(glob, text)) ||
      this.#regexes.some((regex) => regex.test(text))
    );
  }
}

// URL queries as lists of parameters: nothing is decoded, and remaining bytes are unchanged. The query begins at the
// first question mark; parameters are separated by "&".

interface SplitUrl {
  /** The part before the question mark. */
  readonly path: string;
  readonly parameters: readonly string[];
}

/** Null if the URL has no question mark. */
function splitQuery(url: string): SplitUrl | null {
  const at = url.indexOf('?');
  return at < 0 ? null : { path: url.slice(0, at), parameters: url.slice(at + 1).split('&') };
}

/** Omits the question mark if there are no parameters. */
function joinQuery(path: string, parameters: readonly string[]): string {
  return parameters.length === 0 ? path : `${path}?${parameters.join('&')}`;
}

function nameOf(parameter: string): string {
  const at = parameter.indexOf('=');
  return at < 0 ? parameter : parameter.slice(0, at);
}

/** A parameter without a name, such as "=1", counts as empty. */
function isEmpty(parameter: string): boolean {
  return nameOf(parameter) === '';
}

/** Sorts by bytes, stably. Characters are bytes here. */
function sorted(parameters: readonly string[]): readonly string[] {
  return [...parameters].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}

/** Removes duplicates, keeping the first. */
function unique(parameters: readonly string[]): readonly string[] {
  return [...new Set(parameters)];
}
