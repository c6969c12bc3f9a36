// Questions of one thread to another, each answered once, over the messages between them.

import type { Said, Talk } from './talk.ts';

interface Asked<Q> extends Said {
  readonly id: number;
  readonly question: Q;
}
interface Answered<A> extends Said {
  readonly id: number;
  readonly answer: A;
}

const answersTo = (kind: string): string => `${kind}.answer`;

/** Gives a function that asks the thread `to`. */
export function asker<Q, A>(talk: Talk, kind: string, to: number): (question: Q) => Promise<A> {
  const waiting = new Map<number, (answer: A) => void>();
  let next = 1;
  talk.on<Answered<A>>(answersTo(kind), ({ id, answer }) => {
    waiting.get(id)?.(answer);
    waiting.delete(id);
  });
  return (question) =>
    new Promise((resolve) => {
      const id = next++;
      waiting.set(id, resolve);
      talk.say<Asked<Q>>(to, { kind, id, question });
    });
}

/** Answers such questions. @param answer never rejects */
export function answerer<Q, A>(talk: Talk, kind: string, answer: (question: Q) => Promise<A>): void {
  talk.on<Asked<Q>>(kind, ({ id, question }, from) => {
    void answer(question).then((a) => talk.say<Answered<A>>(from, { kind: answersTo(kind), id, answer: a }));
  });
}
