// The answers to challenges of all orders under way, here and on other nodes, merged into the one set that workers have.

import type { AcmeChallenges } from '../tls/tls-settings.ts';

/** Orders whose answers are given at a time, those of other nodes included (chosen). */
const MOST = 100;

/** Where the answers of orders are given. */
export interface ChallengeAnswers {
  /** Resolves when they are given everywhere. @param owner an order, whose former answers they replace */
  answer(owner: string, challenges: AcmeChallenges): Promise<void>;
  /** Resolves when they are not given any more. */
  withdraw(owner: string): Promise<void>;
}

export class ChallengeBoard implements ChallengeAnswers {
  private readonly set: (challenges: AcmeChallenges) => Promise<void>;
  private readonly answers = new Map<string, AcmeChallenges>();
  private last: Promise<void> = Promise.resolve();

  /** @param set resolves when every worker gives these answers and no others */
  constructor(set: (challenges: AcmeChallenges) => Promise<void>) {
    this.set = set;
  }

  answer(owner: string, answers: AcmeChallenges): Promise<void> {
    if (!this.answers.has(owner) && this.answers.size >= MOST)
      return Promise.reject(new Error(`${MOST} orders are under way`));
    this.answers.set(owner, answers);
    return this.send();
  }

  withdraw(owner: string): Promise<void> {
    return this.answers.delete(owner) ? this.send() : Promise.resolve();
  }

  private send(): Promise<void> {
    const sent = this.last.then(() => {
      const all = [...this.answers.values()];
      return this.set({
        http: Object.assign({}, ...all.map(({ http }) => http)),
        alpn: Object.assign({}, ...all.map(({ alpn }) => alpn)),
      });
    });
    this.last = sent.catch(() => {});
    return sent;
  }
}
