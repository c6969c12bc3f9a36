// The records of a transaction in the form that the rules of why? need: final headers, states with their returns,
// lookups, times. Read from one transaction, without guessing.

import type { LogTransaction } from '../../../../protocol/messages.ts';
import { decodeRecords, type LogRecord } from '../../../model/log/transaction.ts';

/** A record used as evidence. */
export interface Evidence {
  vxid: number;
  tag: string;
  text: string;
}

export interface Lifetime {
  /** Source of the lifetime: RFC, VCL, HFP, Default. */
  source: string;
  ttl: number;
  grace: number;
  keep: number;
  cacheable: boolean;
  evidence: Evidence;
}

export interface Step {
  state: string;
  returned: string;
  evidence: Evidence;
}

export class Facts {
  readonly vxid: number;
  readonly type: LogTransaction['type'];
  readonly reason: string;
  readonly parent: number;
  readonly records: readonly LogRecord[];
  /** Final request headers (of a backend request: those sent), by lower-case name. */
  readonly request = new Map<string, string>();
  /** Response headers: as received from the backend, or as sent to the client. */
  readonly response = new Map<string, string>();
  readonly steps: Step[] = [];
  readonly lifetimes: Lifetime[] = [];
  /** Timestamps by event: epoch seconds, and seconds since the start. */
  readonly times = new Map<string, { at: number; since: number }>();

  constructor(tx: LogTransaction) {
    this.vxid = tx.vxid;
    this.type = tx.type;
    this.reason = tx.reason;
    this.parent = tx.parent;
    this.records = decodeRecords(tx.records);
    for (const record of this.records) this.read(record);
  }

  /** The first record of a tag, optionally matching a pattern. */
  first(tag: string, matching?: RegExp): Evidence | undefined {
    const found = this.records.find(
      (r) => r.name === tag && (matching === undefined || matching.test(r.text)),
    );
    return found === undefined ? undefined : this.evidence(found);
  }

  all(tag: string): Evidence[] {
    return this.records.filter((r) => r.name === tag).map((r) => this.evidence(r));
  }

  step(state: string): Step | undefined {
    return this.steps.find((s) => s.state === state);
  }

  get method(): string {
    return this.last(this.type === 'bereq' ? 'BereqMethod' : 'ReqMethod');
  }

  get url(): string {
    return this.last(this.type === 'bereq' ? 'BereqURL' : 'ReqURL');
  }

  get status(): number {
    return Number(this.last(this.type === 'bereq' ? 'BerespStatus' : 'RespStatus')) || 0;
  }

  /** Epoch seconds of the start; 0 if unknown. */
  get at(): number {
    return this.times.get('Start')?.at ?? 0;
  }

  /** Epoch seconds of the last timestamp. */
  get until(): number {
    return Math.max(0, ...[...this.times.values()].map((t) => t.at));
  }

  last(tag: string): string {
    return this.records.findLast((r) => r.name === tag)?.text ?? '';
  }

  header(side: 'request' | 'response', name: string): Evidence | undefined {
    const tags = side === 'request' ? ['ReqHeader', 'BereqHeader'] : ['BerespHeader', 'RespHeader'];
    const found = this.records.findLast(
      (r) => tags.includes(r.name) && r.text.slice(0, name.length + 1).toLowerCase() === `${name}:`,
    );
    return found === undefined ? undefined : this.evidence(found);
  }

  private read(r: LogRecord) {
    switch (r.name) {
      case 'ReqHeader':
      case 'BereqHeader':
        return setHeader(this.request, r.text);
      case 'ReqUnset':
      case 'BereqUnset':
        return void this.request.delete(headerName(r.text));
      case 'BerespHeader':
      case 'RespHeader':
        return setHeader(this.response, r.text);
      case 'VCL_call':
        this.steps.push({ state: r.text, returned: '', evidence: this.evidence(r) });
        return;
      case 'VCL_return': {
        const step = this.steps.at(-1);
        if (step !== undefined && step.returned === '') {
          step.returned = r.text;
          step.evidence = this.evidence(r);
        }
        return;
      }
      case 'TTL': {
        const [source = '', ttl, grace, keep] = r.text.split(' ');
        this.lifetimes.push({
          source,
          ttl: Number(ttl),
          grace: Number(grace),
          keep: Number(keep),
          cacheable: !r.text.endsWith('uncacheable'),
          evidence: this.evidence(r),
        });
        return;
      }
      case 'Timestamp': {
        const m = /^([^:]+): (\S+) (\S+)/.exec(r.text);
        if (m !== null) this.times.set(m[1] as string, { at: Number(m[2]), since: Number(m[3]) });
        return;
      }
      default:
    }
  }

  private evidence(r: LogRecord): Evidence {
    return { vxid: this.vxid, tag: r.name, text: r.text };
  }
}

function headerName(text: string): string {
  const colon = text.indexOf(':');
  return (colon < 0 ? text : text.slice(0, colon)).toLowerCase();
}

function setHeader(headers: Map<string, string>, text: string): void {
  const colon = text.indexOf(':');
  if (colon < 0) return;
  const name = headerName(text);
  const value = text.slice(colon + 1).trim();
  // Several lines of a name form one list.
  const before = headers.get(name);
  headers.set(name, before === undefined || before === value ? value : `${before}, ${value}`);
}
