// Calls from one thread to another, each answered once, over the channel between them.

import type { Channel, ThreadMessage } from './channel.ts';

interface Request<Q> extends ThreadMessage {
  readonly id: number;
  readonly request: Q;
}
interface Response<A> extends ThreadMessage {
  readonly id: number;
  readonly response: A;
}

const responseKind = (kind: string): string => `${kind}.response`;

/** Returns a function that calls the thread `to`. */
export function caller<Q, A>(channel: Channel, kind: string, to: number): (request: Q) => Promise<A> {
  const pending = new Map<number, (response: A) => void>();
  let next = 1;
  channel.on<Response<A>>(responseKind(kind), ({ id, response }) => {
    pending.get(id)?.(response);
    pending.delete(id);
  });
  return (request) =>
    new Promise((resolve) => {
      const id = next++;
      pending.set(id, resolve);
      channel.send<Request<Q>>(to, { kind, id, request });
    });
}

/** Answers such calls. @param answer never rejects */
export function responder<Q, A>(channel: Channel, kind: string, answer: (request: Q) => Promise<A>): void {
  channel.on<Request<Q>>(kind, ({ id, request }, from) => {
    void answer(request).then((response) =>
      channel.send<Response<A>>(from, { kind: responseKind(kind), id, response }),
    );
  });
}
