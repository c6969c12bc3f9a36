// Where proxyd over HTTP/2 is meant to differ from Varnish over HTTP/2, case by case: what is meant over HTTP/1 and does not
// hang on the protocol, and what belongs to HTTP/2.
import type { Known, Part } from './compare.ts';
import { type Difference, KNOWN_DIFFERENCES } from './known-differences.ts';
import { MACHINE_KNOWN } from './machine-known.ts';

const PARTS: readonly Part[] = ['client', 'origin', 'log'];

/** The parts in which a case differs over HTTP/1 may differ over HTTP/2. */
function alike(difference: Difference): Known {
  const parts = PARTS.filter((part) => difference[part] !== undefined);
  return { reason: `as over HTTP/1: ${difference.reason}`, parts };
}

export const BASIC_OVER_HTTP2: Record<string, Known> = {
  ...Object.fromEntries(Object.entries(KNOWN_DIFFERENCES).map(([name, each]) => [name, alike(each)])),
};

export const MACHINE_OVER_HTTP2: Record<string, Known> = {
  ...Object.fromEntries(
    // What clients get instead is written as HTTP/1 says it.
    Object.entries(MACHINE_KNOWN).map(([name, { client: _client, ...each }]) => [name, each]),
  ),
};
