// Body filters of extensions: a program that imports the extension may name them in beresp.filters and resp.filters,
// besides the built-in ones. Extension authors get these types with proxyd/extension, so that this module imports
// nothing, not even Node's types.

/**
 * How a filter changes a body, and therefore its headers: `nothing`, the bytes pass unchanged whatever is returned;
 * `bytes`, other bytes of the same length, and a strong ETag becomes weak; `length`, Content-Length is removed as
 * well.
 */
export type FilterChanges = 'nothing' | 'bytes' | 'length';

export const FILTER_CHANGES: readonly FilterChanges[] = ['nothing', 'bytes', 'length'];

/** The direction of bodies: from the origin to the store (beresp.filters), or to a client (resp.filters). */
export type FilterSide = 'fetch' | 'delivery';

export const FILTER_SIDES: readonly FilterSide[] = ['fetch', 'delivery'];

/** The body for which a filter is opened. */
export interface PassingBody {
  /** Writes a VCL_Log record of its fetch or request. */
  log(text: string): void;
}

/**
 * The output for a piece of a body. An iterable is consumed piece by piece as the reader of the body reads, so that
 * a generator may produce much output without holding it. Returned bytes belong to the proxy.
 */
export type FilterOutput = Uint8Array | Iterable<Uint8Array> | null | undefined;

/** The state of a filter for one body. An exception aborts the body: a fetch fails, a delivery is truncated. */
export interface BodyTransform {
  /**
   * Transforms a piece; pieces arrive in the order of the body.
   * @param bytes a Buffer, the filter's own copy; may be empty with `last`
   * @param last whether this is the last piece
   */
  transform(bytes: Uint8Array, last: boolean): FilterOutput;
  /** The body has ended or was aborted. */
  close?(): void;
}

export interface ExtensionFilter {
  help: string;
  side: FilterSide;
  changes: FilterChanges;
  /** Called with the first bytes. */
  open(body: PassingBody): BodyTransform;
}
