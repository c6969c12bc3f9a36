// What the fetch filters of edge-side includes have in common: the parser of a body, and its findings as stretches of the
// document.

import { Tag } from '../../protocol/tables/tags.ts';
import { EsiParser, type EsiPart, type IncludePart } from '../esi/esi-parser.ts';
import type { FetchedBody, Outlet } from './filter.ts';

/** Of half a page nobody can say what it includes and what is to be removed. */
export const NO_PARTS = 'Attempted ESI on partial (206) response';

/** Bytes that are parsed at a time, before it is asked whether this turn has time for more: a hundred statements, which
 * take a tenth of a millisecond, and ten times as much before the parser's code is compiled. */
export const PARSED = 2048;

/** The parser of a fetched page; its complaints are logged and counted. */
export function parserOf({ request, esiFeatures, log, stats }: FetchedBody): EsiParser {
  const put = (text: string): void => log.put(Tag.ESI_xmlerror, text);
  return new EsiParser(esiFeatures, request.url, {
    error: (text) => {
      stats.esi_errors++;
      put(text);
    },
    warning: (text) => {
      stats.esi_warnings++;
      put(text);
    },
    note: put,
  });
}

/** Gives a page up that has more statements than could be kept. */
export function refuseLong({ log }: FetchedBody, outlet: Outlet): void {
  log.put(Tag.FetchError, 'The page has more ESI statements than a plan can hold');
  outlet.fail();
}

/** A stretch of the document that goes out or does not. */
export type Stretch = { readonly from: number; readonly to: number; readonly isText: boolean };

/** What parts are on their way from one place in the document to another: includes, and all its bytes. */
export function* stretches(
  parts: readonly EsiPart[],
  from: number,
  to: number,
): Generator<Stretch | IncludePart> {
  let at = from;
  for (const part of parts) {
    if (part.kind === 'include') {
      yield part;
      continue;
    }
    if (part.from > at) yield { from: at, to: part.from, isText: false };
    yield { from: part.from, to: part.to, isText: true };
    at = part.to;
  }
  if (to > at) yield { from: at, to, isText: false };
}
