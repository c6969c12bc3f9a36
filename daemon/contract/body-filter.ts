// Body filters of extensions: a program that imports the extension may name them in beresp.filters and resp.filters,
// beside the built-in ones. Authors of extensions get these types with proxyd/extension, so that this module imports
// nothing, Node's types included.

/**
 * What becomes of a body, which is what must be made of the head: `nothing`, the bytes pass as they are whatever is
 * answered; `bytes`, other bytes, as many of them, and a strong ETag becomes weak; `length`, Content-Length goes as well.
 */
export type FilterChanges = 'nothing' | 'bytes' | 'length';

export const FILTER_CHANGES: readonly FilterChanges[] = ['nothing', 'bytes', 'length'];

/** Which way bodies pass it: from the origin into the store (beresp.filters), or to a client (resp.filters). */
export type FilterSide = 'fetch' | 'delivery';

export const FILTER_SIDES: readonly FilterSide[] = ['fetch', 'delivery'];

/** The body that a filter is opened for. */
export interface PassingBody {
  /** A VCL_Log record of its fetch or request. */
  log(text: string): void;
}

/**
 * What a piece of a body becomes. The pieces of an iterable are asked for one after another, as the reader of the body
 * takes them, so that a generator may make much out of little and hold none of it. Answered bytes are the proxy's.
 */
export type FilterOutput = Uint8Array | Iterable<Uint8Array> | null | undefined;

/** One body on its way. What it throws breaks the body off: a fetch fails, a delivery is cut. */
export interface BodyTransform {
  /**
   * Takes a piece, in the order of the body.
   * @param bytes a Buffer, the filter's own copy; none of them perhaps with `last`
   * @param last nothing follows
   */
  transform(bytes: Uint8Array, last: boolean): FilterOutput;
  /** The body is over, or was given up. */
  close?(): void;
}

export interface ExtensionFilter {
  help: string;
  side: FilterSide;
  changes: FilterChanges;
  /** Called when the first bytes come. */
  open(body: PassingBody): BodyTransform;
}
