// Answers of the purge API: JSON, and for errors the form of RFC 9457.

import type { ServerResponse } from 'node:http';

export interface ApiAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

export function answerJson(response: ServerResponse, { status, body, headers = {} }: ApiAnswer): void {
  const type = status >= 400 ? 'application/api-problem+json' : 'application/json';
  const whole = status >= 400 ? { supportId: 'fake', httpStatus: status, ...body } : body;
  response.writeHead(status, { 'Content-Type': type, ...headers });
  response.end(JSON.stringify(whole));
}

/** An error, with its words. */
export function problem(status: number, title: string, detail: string): ApiAnswer {
  return { status, body: { title, detail } };
}
