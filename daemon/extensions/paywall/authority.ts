// Caching and circuit breaking in front of the authorisation service: answers are cached for a time, equal concurrent
// questions are asked once, and a failing service is left alone for a while, after which one question tries it.
// Answers and failures are shared by all threads; pending questions are per thread.

import { createHash } from 'node:crypto';
import { threadsTime } from '../../throttle/steady-clock.ts';
import { type Question, type Service, type ServiceAnswer, ServiceFailure } from './service-call.ts';
import type { ServiceMemory } from './service-memory.ts';

/** Pending questions (chosen). */
const MOST_CALLS = 64;

export class Authority {
  private readonly service: Service;
  /** Milliseconds. */
  private readonly life: number;
  private readonly clock: () => number;
  private readonly memory: ServiceMemory;
  private readonly calls = new Map<string, Promise<ServiceAnswer>>();

  /**
   * @param seconds lifetime of an answer
   * @param clock milliseconds on a monotonic clock shared by all threads
   */
  constructor(service: Service, memory: ServiceMemory, seconds: number, clock = threadsTime) {
    this.service = service;
    this.memory = memory;
    this.life = seconds * 1000;
    this.clock = clock;
  }

  /**
   * The answer of the service, or a cached one.
   * @returns a promise only if the service must be called; it may reject with a ServiceFailure
   * @throws ServiceFailure if the service is not asked
   */
  ask(question: Question): ServiceAnswer | Promise<ServiceAnswer> {
    // A session is a secret: it is not stored beyond its question.
    const key = digest(`${question.protection}\n${question.session}`);
    return this.memory.answer(key, this.clock()) ?? this.calls.get(key) ?? this.call(key, question);
  }

  close(): void {
    this.service.close();
  }

  private call(key: string, question: Question): Promise<ServiceAnswer> {
    const { memory } = this;
    const failing = memory.failing(this.clock());
    if (failing !== null && (failing.rests || this.calls.size > 0))
      throw new ServiceFailure('it is not asked again so soon after a failure');
    if (this.calls.size >= MOST_CALLS) throw new ServiceFailure(`${MOST_CALLS} requests wait for it`);
    const answer = this.service
      .ask(question)
      .then(
        (given) => {
          memory.worked();
          if (this.life > 0) memory.keep(key, given, this.clock() + this.life);
          return given;
        },
        (error) => {
          memory.failed(this.clock());
          throw error;
        },
      )
      .finally(() => this.calls.delete(key));
    this.calls.set(key, answer);
    return answer;
  }
}

/** A digest that identifies a text without revealing it. */
export function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
