// The authorisation service as many requests see it: its answers are kept for a time, a question that is on its way is
// not asked a second time, and a service that fails is left alone for a while, after which one question tries it.

import { createHash } from 'node:crypto';
import { RecentMap } from './recent-map.ts';
import { type Question, type Service, type ServiceAnswer, ServiceFailure } from './service-call.ts';

/** Answers kept, and questions on their way (chosen). */
const MOST_ANSWERS = 10_000;
const MOST_CALLS = 64;
/** So many failures in a row open the circuit, for so many milliseconds (chosen). */
const FAILURES = 3;
const REST = 5000;

interface Kept {
  answer: ServiceAnswer;
  /** Milliseconds on `clock`. */
  until: number;
}

export class Authority {
  private readonly service: Service;
  /** Milliseconds. */
  private readonly life: number;
  private readonly clock: () => number;
  private readonly answers = new RecentMap<Kept>(MOST_ANSWERS);
  private readonly calls = new Map<string, Promise<ServiceAnswer>>();
  private failures = 0;
  private restsUntil = 0;

  /**
   * @param seconds how long an answer is used
   * @param clock milliseconds on a clock that never jumps
   */
  constructor(service: Service, seconds: number, clock = (): number => performance.now()) {
    this.service = service;
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
    const kept = this.answers.get(key);
    if (kept !== undefined && this.clock() < kept.until) return kept.answer;
    return this.calls.get(key) ?? this.call(key, question);
  }

  close(): void {
    this.service.close();
  }

  private call(key: string, question: Question): Promise<ServiceAnswer> {
    if (this.failures >= FAILURES && (this.clock() < this.restsUntil || this.calls.size > 0))
      throw new ServiceFailure('it failed a moment ago and is left alone');
    if (this.calls.size >= MOST_CALLS) throw new ServiceFailure(`${MOST_CALLS} questions wait for it`);
    const answer = this.service
      .ask(question)
      .then(
        (given) => {
          this.failures = 0;
          if (this.life > 0) this.answers.set(key, { answer: given, until: this.clock() + this.life });
          return given;
        },
        (error) => {
          this.failures++;
          this.restsUntil = this.clock() + REST;
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
