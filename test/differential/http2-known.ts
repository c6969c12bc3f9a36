// Where proxyd over HTTP/2 is meant to differ from Varnish over HTTP/2, case by case: what is meant over HTTP/1 and does not
// hang on the protocol, and what belongs to HTTP/2.
import type { Known, Part } from './compare.ts';
import { type Difference, KNOWN_DIFFERENCES } from './known-differences.ts';
import { MACHINE_KNOWN } from './machine-known.ts';
import { PASSAGE_KNOWN } from './passage-cases.ts';

const PARTS: readonly Part[] = ['client', 'origin', 'log'];

/** The parts in which a case differs over HTTP/1 may differ over HTTP/2. */
function alike(difference: Difference): Known {
  const parts = PARTS.filter((part) => difference[part] !== undefined);
  return { reason: `as over HTTP/1: ${difference.reason}`, parts };
}

export const BASIC_OVER_HTTP2: Record<string, Known> = {
  ...Object.fromEntries(Object.entries(KNOWN_DIFFERENCES).map(([name, each]) => [name, alike(each)])),
};

/** RFC 9113 section 8.1. */
const UNREAD: Known = {
  reason: 'an upload that nobody wants is not read: it is neither waited for nor counted',
  parts: ['log'],
};

/** They take a kept connection: over HTTP/2 a pipe is a pass. */
const STALE: Known = {
  reason: 'whether the origin’s connection of the case before is seen to be closed hangs on the moment',
  parts: PARTS,
};

export const MACHINE_OVER_HTTP2: Record<string, Known> = {
  ...Object.fromEntries(
    // The status lines are written as HTTP/1 says it.
    Object.entries(MACHINE_KNOWN).map(([name, { client: _client, ...each }]) => [name, each]),
  ),
  'filters of a delivery': {
    reason:
      'a stream whose answer cannot be made is reset at once; Varnish leaves it open until the connection is idle for long',
    parts: ['client', 'log'],
  },
  'synth fails': {
    reason:
      'RespProtocol HTTP/1.1 comes before the status, as for every other answer of HTTP/2; Varnish leaves it out here',
    parts: ['log'],
  },
  'one waits and leaves': {
    reason:
      'what a client that has left would have got is counted in ReqAcct, as over HTTP/1; Varnish counts nothing over HTTP/2',
    parts: ['log'],
  },
  'body not wanted': UNREAD,
  'body and a page': UNREAD,
  'body sent and retried': STALE,
  'pipe fails': STALE,
  'pipe of a body': STALE,
  'pipe of a cached body': STALE,
  'pipe after a restart': STALE,
};

export const PASSAGE_OVER_HTTP2: Record<string, Known> = {
  ...Object.fromEntries(
    Object.entries(PASSAGE_KNOWN).map(([name, { client: _client, ...each }]) => [name, each]),
  ),
  '304 for what then breaks off': {
    reason: 'a body that breaks off resets its stream; Varnish ends the stream as if it were whole',
    parts: ['client', 'log'],
  },
  'a background fetch takes the body ': {
    reason: 'a fetch beside the response takes the body: which of the two is first hangs on the moment',
    parts: ['log'],
  },
};

const CUT = 'a body that breaks off resets its stream; Varnish ends the stream as if it were whole';

/** Why a scenario has other answers than Varnish’s over HTTP/2. */
export const SCENARIOS_OVER_HTTP2: Readonly<Record<string, string>> = {
  'fetch-times: times of a fetch: set when the head is there, they come too late': CUT,
  'gzip: gzip: broken ones while they are streamed': CUT,
  'gzip: gzip: filters of a delivery that are named':
    'a stream whose answer cannot be made is reset at once; Varnish leaves it open',
  'saintmode: saintmode: places of states':
    'no value ends with a blank (RFC 9113 section 8.2.1); Varnish sends it as the program made it',
};
