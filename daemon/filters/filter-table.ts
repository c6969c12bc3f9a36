// All body filters, and which of them a body passes. A list of filters is made once for each text or set of wishes: it
// is what the program reads, what is logged as Filters, and what a chain is made of.

import { Tag } from '../../protocol/tables/tags.ts';
import type { ImportedExtension } from '../contract/context.ts';
import type { HttpMessage } from '../http1/message.ts';
import { constantRecord, type PreparedRecords } from '../log/tx-log.ts';
import { RANGE } from './byte-range.ts';
import { ESI } from './esi-deliver.ts';
import { ESI_FETCHED, ESI_GZIP } from './esi-fetch.ts';
import { filtersOf } from './extension-filter.ts';
import type {
  DeliveryFacts,
  DeliveryFilter,
  FetchFilter,
  FetchWishes,
  Filter,
  FilterParams,
} from './filter.ts';
import { GUNZIP_DELIVERED, GUNZIP_FETCHED, GZIP, TEST_GUNZIP } from './gzip.ts';

/** In the order in which bodies pass them when the program names none. */
const TABLE: readonly Filter[] = [
  GUNZIP_FETCHED,
  ESI_FETCHED,
  ESI_GZIP,
  GZIP,
  TEST_GUNZIP,
  ESI,
  GUNZIP_DELIVERED,
  RANGE,
];

export interface FilterList<F extends Filter> {
  readonly filters: readonly F[];
  /** As the program reads it and as it is logged. */
  readonly text: string;
  /** The record Filters. */
  readonly record: PreparedRecords;
}

/** A text that names a filter which does not exist. */
export interface UnknownFilter {
  readonly unknown: string;
  readonly record: PreparedRecords;
}

class Side<F extends Filter> {
  readonly filters: readonly F[];
  /** By a bit for each filter. */
  private readonly usual: FilterList<F>[] = [];

  constructor(filters: readonly F[]) {
    this.filters = filters;
  }

  /** The list of the filters whose bits are set; Varnish writes each with a blank before it. */
  ofBits(bits: number): FilterList<F> {
    const known = this.usual[bits];
    if (known !== undefined) return known;
    const filters = this.filters.filter((_, i) => (bits & (1 << i)) !== 0);
    const text = filters.map(({ name }) => ` ${name}`).join('');
    const made = { filters, text, record: constantRecord(Tag.Filters, text) };
    this.usual[bits] = made;
    return made;
  }

  /** The list that a program has given: names with blanks between them, of these filters or of its own. */
  ofText(text: string, own: (name: string) => F | undefined): FilterList<F> | UnknownFilter {
    const record = constantRecord(Tag.Filters, text);
    const filters: F[] = [];
    for (const { 0: name, index } of text.matchAll(/\S+/g)) {
      const filter = this.filters.find((row) => row.name === name) ?? own(name);
      if (filter === undefined) return { unknown: `Filter '...${text.slice(index)}' not found`, record };
      filters.push(filter);
    }
    return { filters, text, record };
  }
}

const FETCH = new Side(TABLE.filter((row) => row.side === 'fetch'));
const DELIVERY = new Side(TABLE.filter((row) => row.side === 'delivery'));

/** Of the bodies of requests: a page of edge-side includes or a range is no request. */
const REQUEST_FETCH = new Side(FETCH.filters.filter((row) => row !== ESI_FETCHED && row !== ESI_GZIP));
const REQUEST_SENT = new Side<DeliveryFilter>([GUNZIP_DELIVERED]);

export const NO_FETCH_FILTERS = FETCH.ofBits(0);

/** The filters of a fetched body when the program names none. */
export function usualFetchFilters(
  head: HttpMessage,
  wishes: FetchWishes,
  params: FilterParams,
): FilterList<FetchFilter> {
  const { filters } = FETCH;
  let bits = 0;
  for (let i = 0; i < filters.length; i++)
    if ((filters[i] as FetchFilter).wanted(head, wishes, params)) bits |= 1 << i;
  return FETCH.ofBits(bits);
}

/**
 * The filters that a program names for a fetched body.
 * @param extensions those that it imports
 */
export function namedFetchFilters(
  text: string,
  extensions: readonly ImportedExtension[],
): FilterList<FetchFilter> | UnknownFilter {
  return FETCH.ofText(text, (name) => ownFilter(extensions, name, 'fetch') as FetchFilter | undefined);
}

/** As namedFetchFilters, for the body of a request as it comes from its client (req.filters). */
export function namedRequestFilters(
  text: string,
  extensions: readonly ImportedExtension[],
): FilterList<FetchFilter> | UnknownFilter {
  return REQUEST_FETCH.ofText(
    text,
    (name) => ownFilter(extensions, name, 'fetch') as FetchFilter | undefined,
  );
}

/** As namedDeliveryFilters, for the body of a request as it goes to an origin (bereq.filters). */
export function namedUploadFilters(
  text: string,
  extensions: readonly ImportedExtension[],
): FilterList<DeliveryFilter> | UnknownFilter {
  return REQUEST_SENT.ofText(
    text,
    (name) => ownFilter(extensions, name, 'delivery') as DeliveryFilter | undefined,
  );
}

/** The filters of a delivered body when the program names none. */
export function usualDeliveryFilters(facts: DeliveryFacts, params: FilterParams): FilterList<DeliveryFilter> {
  const { filters } = DELIVERY;
  let bits = 0;
  for (let i = 0; i < filters.length; i++)
    if ((filters[i] as DeliveryFilter).wanted(facts, params)) bits |= 1 << i;
  return DELIVERY.ofBits(bits);
}

/** As namedFetchFilters, for a delivered body. */
export function namedDeliveryFilters(
  text: string,
  extensions: readonly ImportedExtension[],
): FilterList<DeliveryFilter> | UnknownFilter {
  return DELIVERY.ofText(
    text,
    (name) => ownFilter(extensions, name, 'delivery') as DeliveryFilter | undefined,
  );
}

function ownFilter(
  extensions: readonly ImportedExtension[],
  name: string,
  side: Filter['side'],
): Filter | undefined {
  for (const extension of extensions) {
    const found = filtersOf(extension).find((row) => row.name === name && row.side === side);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Why the filters of these extensions cannot be used together: two have one name, or one that of a built-in filter. */
export function filterClash(extensions: readonly ImportedExtension[]): string | null {
  const owners = new Map(TABLE.map(({ name }) => [name, 'the proxy itself']));
  for (const extension of extensions) {
    for (const { name } of filtersOf(extension)) {
      const owner = owners.get(name);
      if (owner !== undefined) return `Filter ${name} of ${extension.name} has the name of one of ${owner}`;
      owners.set(name, extension.name);
    }
  }
  return null;
}
