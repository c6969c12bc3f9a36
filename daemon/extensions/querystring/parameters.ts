// Queries of URLs as lists of parameters, byte for byte: nothing is decoded, and what stays is as it came. The query begins
// at the first question mark; parameters are parted by "&".

export interface SplitUrl {
  /** Before the question mark. */
  readonly path: string;
  readonly parameters: readonly string[];
}

/** Null for a URL without a question mark. */
export function splitQuery(url: string): SplitUrl | null {
  const at = url.indexOf('?');
  return at < 0 ? null : { path: url.slice(0, at), parameters: url.slice(at + 1).split('&') };
}

/** Without parameters there is no question mark either. */
export function joinQuery(path: string, parameters: readonly string[]): string {
  return parameters.length === 0 ? path : `${path}?${parameters.join('&')}`;
}

export function nameOf(parameter: string): string {
  const at = parameter.indexOf('=');
  return at < 0 ? parameter : parameter.slice(0, at);
}

/** A parameter without a name, such as "=1", is as good as empty. */
export function isEmpty(parameter: string): boolean {
  return nameOf(parameter) === '';
}

/** In the order of their bytes; equals stay as they came. Characters are bytes here. */
export function sorted(parameters: readonly string[]): readonly string[] {
  return [...parameters].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}

/** Each once, where it came first. */
export function unique(parameters: readonly string[]): readonly string[] {
  return [...new Set(parameters)];
}
