// What the purge queue asks of an edge network. An operation is one thing to clear; a batch is a call with several that
// have kind, type and network in common; what came of a call is a plain value, so that the queue alone decides what is
// tried again, split, or given up.

import type { EdgeResponse, HeaderChanges, HeaderSwitches } from './edge-headers.ts';

/** A delete takes the copy away, an invalidate has it revalidated. */
export type EdgeKind = 'delete' | 'invalidate';

/** `rule` goes the way of content control: few a day, slow, and to be polled. */
export type EdgeType = 'url' | 'tag' | 'cpcode' | 'rule';

export type EdgeNetwork = 'production' | 'staging';

/** A condition on requests that networks have rules for. All parts that are given have to hold. */
export interface EdgeRule {
  /** Lower case, without a port; null is any. */
  readonly host: string | null;
  /** A path that begins and ends with "/": all below it. Null is any. */
  readonly prefix: string | null;
  /** Extensions without the dot, any of them; null is any. */
  readonly extensions: readonly string[] | null;
}

/** What is to be cleared at the edge. The target is a text that names it: a URL, a tag, digits of a CP code, or a rule
 * as text (ruleText of eccu-rule.ts). */
export interface EdgeTarget {
  readonly kind: EdgeKind;
  readonly type: EdgeType;
  readonly network: EdgeNetwork;
  readonly target: string;
}

export interface Capabilities {
  /** Whether an invalidate is known; where it is not, a delete is sent, which clears more and never less. */
  readonly soft: boolean;
  readonly ruleDelete: boolean;
  readonly ruleInvalidate: boolean;
  readonly tags: boolean;
  readonly cpcodes: boolean;
  /** Of one call. */
  readonly maxObjects: number;
  readonly maxBytes: number;
}

export interface EdgeBatch {
  readonly kind: EdgeKind;
  readonly type: EdgeType;
  readonly network: EdgeNetwork;
  readonly targets: readonly string[];
}

/** What a call brought: an answer of HTTP, or a failure of the network (timeouts, resets, half a body). */
export type CallResult =
  | {
      readonly status: number;
      /** Names in lower case. */
      readonly headers: Readonly<Record<string, string>>;
      /** Bounded by the provider. */
      readonly body: string;
      readonly failure?: undefined;
    }
  | { readonly failure: string; readonly status?: undefined };

/** What the queue makes of it. Waits are in milliseconds. */
export type Outcome =
  /** `purgeId` is the network's id of the purge; `poll` is the id of a content-control request that is not done yet. */
  | { readonly is: 'acked'; readonly purgeId: string; readonly poll?: string }
  /** Too many calls: not an attempt. */
  | { readonly is: 'limited'; readonly wait: number; readonly detail: string }
  /** The batch was too large (413). */
  | { readonly is: 'split'; readonly detail: string }
  /** One of the objects is refused (400, or a 403 that names one). */
  | { readonly is: 'bisect'; readonly detail: string }
  /** Credentials are refused (401, other 403): everything stops until an operator has looked. */
  | { readonly is: 'pause'; readonly detail: string }
  /** 408, 5xx, the network. */
  | { readonly is: 'retry'; readonly detail: string }
  /** The network will never do this (a content-control request that FAILED or was IGNORED). */
  | { readonly is: 'dead'; readonly detail: string };

export interface Provider {
  readonly name: string;
  readonly capabilities: Capabilities;
  /** Where a type has fewer objects a call than maxObjects. */
  objectsOf?(type: EdgeType): number;
  /** Whether it has a rule of this form; absent for all forms. */
  rules?(rule: EdgeRule): boolean;
  /** The headers of a response that goes to this network; `tags` are normalised already. */
  formatHeaders(response: EdgeResponse, tags: readonly string[], switches: HeaderSwitches): HeaderChanges;
  /** Makes the call. Never rejects but for the signal's reason. */
  send(batch: EdgeBatch, signal: AbortSignal): Promise<CallResult>;
  /** Asks how a content-control request stands; its results are classified as those of send(). */
  poll?(id: string, signal: AbortSignal): Promise<CallResult>;
  /** Method, URL, headers (secrets and signature masked) and body of the call that send() would make, for dry_run. */
  describe(batch: EdgeBatch): string;
  /** Bytes that the body of a call with these targets has. */
  bodyBytes(batch: EdgeBatch): number;
  /** What a result means for the batch; `polled` says that it is an answer of poll(). */
  classify(result: CallResult, polled: boolean): Outcome;
}
