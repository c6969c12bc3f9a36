// Answers that go wrong, in the order in which they were asked for: how the purge API of a network fails, so that what
// follows from it can be watched.

import type { ServerResponse } from 'node:http';
import { answerJson } from './api-answer.ts';

export interface Fault {
  /** A status, or one of FAULTS. */
  readonly kind: string;
  /** Calls that it meets; the default is one. */
  readonly times?: number;
  /** Only calls that contain this, written "delete url staging OBJECTS". */
  readonly where?: string;
}

/** How long a slow answer takes (milliseconds). */
const SLOW = 3000;

/** Each ends the call in its way. */
const FAULTS: Readonly<Record<string, (response: ServerResponse) => void>> = {
  hang: () => undefined,
  reset: (response) => void response.socket?.resetAndDestroy(),
  slow: (response) => {
    response.writeHead(201, { 'Content-Type': 'application/json' });
    response.write('{"httpStatus":201,');
    setTimeout(() => response.end('"purgeId":"slow","supportId":"slow"}'), SLOW).unref();
  },
  half: (response) => {
    response.writeHead(201, { 'Content-Type': 'application/json', 'Content-Length': '1000' });
    response.write('{"httpStatus":201,"purge');
    setTimeout(() => response.socket?.destroy(), 50).unref();
  },
  odd: (response) => answerJson(response, { status: 201, body: { hello: 'world' } }),
  endless: (response) => void response.end(Buffer.alloc(1 << 20, ' ')),
};

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad request',
  401: 'Not authorized',
  403: 'Forbidden',
  408: 'Request timeout',
  413: 'Request too large',
  429: 'Rate limit exceeded',
};

export class FaultScript {
  #faults: { fault: Fault; left: number }[] = [];

  /** What is wrong with the fault; null when it will be played. */
  add(fault: Fault): string | null {
    const status = /^[1-5]\d\d$/.test(fault.kind);
    if (!status && !Object.hasOwn(FAULTS, fault.kind))
      return `'${fault.kind}' is no status and none of ${Object.keys(FAULTS).join(', ')}`;
    if (fault.times !== undefined && !(fault.times > 0)) return 'how many times must be 1 or more';
    this.#faults.push({ fault, left: fault.times ?? 1 });
    return null;
  }

  clear(): void {
    this.#faults = [];
  }

  /** Plays the first fault that is for this call; false when there is none. */
  play(response: ServerResponse, call: string): boolean {
    const found = this.#faults.find(({ fault }) => call.includes(fault.where ?? ''));
    if (found === undefined) return false;
    if (--found.left === 0) this.#faults = this.#faults.filter((other) => other !== found);
    const { kind } = found.fault;
    const special = FAULTS[kind];
    if (special !== undefined) {
      special(response);
      return true;
    }
    const status = Number(kind);
    const detail = `a fault that was asked for (${kind})`;
    const limits = status === 429 ? { rateLimit: 1, rateLimitRemaining: 0 } : {};
    answerJson(response, { status, body: { title: TITLES[status] ?? 'Failure', detail, ...limits } });
    return true;
  }
}
