// A filter of query parameters: names, globs and regular expressions that a program adds in vcl_init. A parameter matches
// when one of them does.

import { matchesGlob } from '../../../queries/fnmatch.ts';
import { type BoundedRegex, compileRegex } from '../../../queries/regex/bounded-regex.ts';
import { ExtensionError } from '../../contract/failure.ts';
import { isEmpty, joinQuery, nameOf, sorted, splitQuery, unique } from './parameters.ts';

export interface FilterWays {
  readonly sort: boolean;
  readonly uniq: boolean;
  /** What is looked at: the name, or the whole parameter. */
  readonly match: 'name' | 'param';
}

export class QueryFilter {
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

  /** Throws ExtensionError for what is no regular expression. */
  addRegex(pattern: string): void {
    try {
      this.#regexes.push(compileRegex(pattern));
    } catch (cause) {
      throw new ExtensionError(`querystring: "${pattern}": ${(cause as Error).message}`);
    }
  }

  /** The URL with the parameters that match (`keep`) or those that do not. Empty ones go in any case. */
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
