// An edge network as the purge queue sees it. An operation clears one target; a batch is a call with several targets of
// one kind, type and network; the outcome of a call is a plain value, so that the queue alone decides what is retried,
// split or given up.

import type { EdgeResponse, HeaderChanges, HeaderSwitches } from './edge-headers.ts';

/** `delete` removes copies, `invalidate` has them revalidated. */
export type EdgeKind = 'delete' | 'invalidate';

/** `rule` uses content control: few requests a day, slow, and polled. */
export type EdgeType = 'url' | 'tag' | 'cpcode' | 'rule';

export type EdgeNetwork = 'production' | 'staging';

/** A condition on requests that networks support as a rule. All given parts must match. */
export interface EdgeRule {
  /** Lower case, without a port; null matches any. */
  readonly host: string | null;
  /** A path that begins and ends with "/", matching everything below it; null matches any. */
  readonly prefix: string | null;
  /** File extensions without the dot, one of which must match; null matches any. */
  readonly extensions: readonly string[] | null;
}

/** A target to clear at the edge, in text form: a URL, a tag, the digits of a CP code, or a rule (ruleText() of
 * eccu-rule.ts). */
export interface EdgeTarget {
  readonly kind: EdgeKind;
  readonly type: EdgeType;
  readonly network: EdgeNetwork;
  readonly target: string;
}

export interface Capabilities {
  /** Whether it supports invalidate; if not, a delete is sent, which clears more, never less. */
  readonly soft: boolean;
  readonly ruleDelete: boolean;
  readonly ruleInvalidate: boolean;
  readonly tags: boolean;
  readonly cpcodes: boolean;
  /** Per call. */
  readonly maxObjects: number;
  readonly maxBytes: number;
}

export interface EdgeBatch {
  readonly kind: EdgeKind;
  readonly type: EdgeType;
  readonly network: EdgeNetwork;
  readonly targets: readonly string[];
}

/** The result of a call: an HTTP response, or a network failure (timeout, reset, truncated body). */
export type CallResult =
  | {
      readonly status: number;
      /** Names in lower case. */
      readonly headers: Readonly<Record<string, string>>;
      /** Limited by the provider. */
      readonly body: string;
      readonly failure?: undefined;
    }
  | { readonly failure: string; readonly status?: undefined };

/** The outcome of a call for the queue. Waits are in milliseconds. */
export type Outcome =
  /** `purgeId` is the network's id of the purge; `poll` is the id of a content-control request in progress. */
  | { readonly is: 'acked'; readonly purgeId: string; readonly poll?: string }
  /** Rate limited: does not count as an attempt. */
  | { readonly is: 'limited'; readonly wait: number; readonly detail: string }
  /** The batch was too large (413). */
  | { readonly is: 'split'; readonly detail: string }
  /** One of the objects was refused (400, or a 403 that names one). */
  | { readonly is: 'bisect'; readonly detail: string }
  /** The credentials were refused (401, other 403): sending stops until an operator intervenes. */
  | { readonly is: 'pause'; readonly detail: string }
  /** 408, 5xx, or a network failure. */
  | { readonly is: 'retry'; readonly detail: string }
  /** Failed permanently (a content-control request that FAILED or was IGNORED). */
  | { readonly is: 'dead'; readonly detail: string };

export interface Provider {
  readonly name: string;
  readonly capabilities: Capabilities;
  /** Objects per call for a type with a lower limit than maxObjects. */
  objectsOf?(type: EdgeType): number;
  /** Whether it supports rules of this form; all forms if absent. */
  rules?(rule: EdgeRule): boolean;
  /** The headers of a response to this network; `tags` are already normalized. */
  formatHeaders(response: EdgeResponse, tags: readonly string[], switches: HeaderSwitches): HeaderChanges;
  /** Makes the call. Rejects only with the signal's reason. */
  send(batch: EdgeBatch, signal: AbortSignal): Promise<CallResult>;
  /** Polls a content-control request; results are classified like those of send(). */
  poll?(id: string, signal: AbortSignal): Promise<CallResult>;
  /** Method, URL, headers (with secrets and signature masked) and body of the call that send() would make, for
   * dry_run. */
  describe(batch: EdgeBatch): string;
  /** Bytes of the body of a call with these targets. */
  bodyBytes(batch: EdgeBatch): number;
  /** The outcome of a result for the batch; `polled` for a response to poll(). */
  classify(result: CallResult, polled: boolean): Outcome;
}
