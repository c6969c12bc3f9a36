// The authorisation service as many requests see it: its answers are kept for a time, a question that is on its way is
// not asked a second time, and a service that fails is left alone for a while, after which one question tries it. Answers
// and failures are those of all threads; questions on their way are a thread's own, so that each may have one.

import { createHash } from 'node:crypto';
import { threadsTime } from '../../throttle/steady-clock.ts';
import { type Question, type Service, type ServiceAnswer, ServiceFailure } from './service-call.ts';
import type { ServiceMemory } from './service-memory.ts';

/** Questions on their way (chosen). */
const MOST_CALLS = 64;

export class Authority {
  private readonly service: Service;
  /** Milliseconds. */
  private readonly life: number;
  private readonly clock: () => number;
  private readonly memory: ServiceMemory;
  private readonly calls = new Map<string, Promise<ServiceAnswer>>();

  /**
   * @param seconds how long an answer is used
   * @param clock milliseconds on a clock that never jumps, the same in all threads
   */
  constructor(service: Service, memory: ServiceMemory, seconds: number, clock = threadsTime) {
    this.service = service;
    this.memory = memory;
    this.life = seconds * 1000;
    this.clock = clock;
  }

  /**
   * What the service says, or said a short time ago.
   * @returns a promise only where it has to be asked; it may reject with a ServiceFailure
   * @throws ServiceFailure when it is not asked
   */
  ask(question: Question): ServiceAnswer | Promise<ServiceAnswer> {
    // A session is a secret: it is not kept for longer than its question.
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
      throw new ServiceFailure('it failed a moment ago and is left alone');
    if (this.calls.size >= MOST_CALLS) throw new ServiceFailure(`${MOST_CALLS} questions wait for it`);
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

/** A text that stands for another and does not show it. */
export function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
