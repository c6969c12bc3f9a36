// Compares the decisions of two programs about the same requests: the action of vcl_recv, the key, the backend, the status,
// lifetimes and headers.

import type { Director, VclProgram } from '../contract/context.ts';
import { endPrivs } from '../contract/priv.ts';
import type { CompiledProgram } from '../contract/program.ts';
import { TrialLog, trialBackend, trialContext } from '../extensions/author/trial-task.ts';
import { findExtension } from '../extensions/registry.ts';
import type { HttpMessage } from '../http1/message.ts';
import { finiProgram, initProgram, loadProgram } from '../vcl/loader.ts';
import type { LoggedRequest } from './logged-requests.ts';
import { stageFor, type TrialStage } from './trial-stage.ts';

/** The decisions of a program about one request, by name: action, key, backend, … */
type Decisions = Map<string, string>;

export interface Difference {
  /** action, key, backend, status, header NAME, … */
  readonly what: string;
  readonly before: string;
  readonly after: string;
  readonly requests: number;
  /** The last of these requests. */
  readonly example: { readonly vxid: number; readonly method: string; readonly url: string };
}

export interface Comparison {
  readonly requests: number;
  /** How many are decided otherwise. */
  readonly changed: number;
  /** Seconds between the first and the last request. */
  readonly seconds: number;
  /** The most frequent first. */
  readonly differences: readonly Difference[];
  /** How many further kinds were counted and left out. */
  readonly leftOut: number;
}

/** Kinds of differences (chosen): their texts come from requests. */
const MOST_KINDS = 1000;
/** Characters of a text. */
const LONGEST = 200;
/** Headers that differ with each run or connection. */
const OWN = new Set(['date', 'age', 'via', 'x-forwarded-for', 'x-proxy-id', 'x-varnish', 'connection']);

class Trial {
  readonly program: VclProgram;
  readonly #life;

  /** Throws with the error of vcl_init. */
  constructor(name: string, compiled: CompiledProgram) {
    const directors = new Map<string, Director>(
      compiled.backends.map(({ name: each }) => [each, trialBackend(each)]),
    );
    this.program = loadProgram(name, compiled, directors, findExtension);
    this.program.makeBackend = ({ host, port = '80', path }) => trialBackend(path ?? `${host}:${port}`);
    this.#life = trialContext(this.program, new TrialLog());
    const refusal = initProgram(this.program, this.#life);
    if (refusal !== null) throw new Error(`vcl_init of ${name}: ${refusal}`);
  }

  close(): void {
    finiProgram(this.program, this.#life);
  }

  decide(logged: LoggedRequest): Decisions {
    const stage = stageFor(this.program);
    const decisions: Decisions = new Map();
    try {
      decide(stage, logged, decisions);
    } catch (cause) {
      decisions.set('failure', (cause as Error).message);
    } finally {
      endPrivs(stage.ctx.priv);
    }
    return decisions;
  }
}

function headers(kind: string, head: HttpMessage, decisions: Decisions): void {
  for (const line of head.lines.slice(0, head.n)) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    if (!OWN.has(name))
      decisions.set(
        `${kind} header ${name}`,
        line
          .slice(colon + 1)
          .trim()
          .slice(0, LONGEST),
      );
  }
}

function decide(
  stage: TrialStage,
  { client, protocol, request, response }: LoggedRequest,
  decisions: Decisions,
): void {
  stage.setRequest(client, protocol, request);
  const action = stage.run('recv');
  decisions.set('action', action);
  if (action === 'fail') decisions.set('failure', stage.failure ?? '');
  if (action === 'synth') {
    stage.run('synth');
    finish(stage, decisions);
    return;
  }
  if (action !== 'hash' && action !== 'pass') return;
  stage.run('hash');
  decisions.set('key', stage.key.slice(0, LONGEST));
  if (stage.run(action === 'pass' ? 'pass' : 'miss') !== 'fetch') return;
  decisions.set('fetch', stage.run('backend_fetch'));
  const { bo } = stage.ctx;
  if (bo === null) return;
  decisions.set('backend', bo.backend?.vclName ?? 'none');
  decisions.set('fetched URL', bo.bereq.url.slice(0, LONGEST));
  headers('fetch', bo.bereq, decisions);
  if (response === null) return;
  stage.setResponse(response);
  decisions.set('response', stage.run('backend_response'));
  decisions.set('cacheable', bo.uncacheable ? 'no' : 'yes');
  decisions.set('ttl', `${bo.ttl}`);
  decisions.set('grace', `${bo.grace}`);
  decisions.set('keep', `${bo.keep}`);
  stage.run('deliver');
  finish(stage, decisions);
}

function finish(stage: TrialStage, decisions: Decisions): void {
  const resp = stage.ctx.req?.resp;
  if (resp === undefined) return;
  decisions.set('status', String(resp.status));
  headers('response', resp, decisions);
}

/** Counts kinds of differences. */
class Tally {
  readonly #kinds = new Map<string, Difference>();
  #leftOut = new Set<string>();

  add(what: string, before: string, after: string, { vxid, request }: LoggedRequest): void {
    // Keys and URLs differ from request to request: they are one kind each, with an example.
    const isOwn = what === 'key' || what === 'fetched URL';
    const id = isOwn ? what : JSON.stringify([what, before, after]);
    const known = this.#kinds.get(id);
    if (known === undefined && this.#kinds.size >= MOST_KINDS) {
      if (this.#leftOut.size < MOST_KINDS) this.#leftOut.add(id);
      return;
    }
    const example = { vxid, method: request.first, url: request.second };
    this.#kinds.set(id, { what, before, after, requests: (known?.requests ?? 0) + 1, example });
  }

  get leftOut(): number {
    return this.#leftOut.size;
  }

  get list(): Difference[] {
    return [...this.#kinds.values()].sort((a, b) => b.requests - a.requests || (a.what < b.what ? -1 : 1));
  }
}

/** Throws with the reason when one of the programs cannot be used. */
export function comparePrograms(
  before: CompiledProgram,
  after: CompiledProgram,
  requests: readonly LoggedRequest[],
): Comparison {
  const [old, next] = [new Trial('before', before), new Trial('after', after)];
  const tally = new Tally();
  let changed = 0;
  for (const logged of requests) {
    const [was, is] = [old.decide(logged), next.decide(logged)];
    // Differences that follow from another action would hide it.
    const isOther = was.get('action') !== is.get('action');
    const names = isOther ? ['action', 'status', 'failure'] : new Set([...was.keys(), ...is.keys()]);
    let differs = false;
    for (const what of names) {
      const [a, b] = [was.get(what) ?? '-', is.get(what) ?? '-'];
      if (a === b) continue;
      differs = true;
      tally.add(what, a, b, logged);
    }
    if (differs) changed++;
  }
  old.close();
  next.close();
  const seconds = requests.length === 0 ? 0 : (requests.at(-1)?.at ?? 0) - (requests[0]?.at ?? 0);
  return { requests: requests.length, changed, seconds, differences: tally.list, leftOut: tally.leftOut };
}
