// Classifies the response of a network, as far as all networks agree.

import type { CallResult, Outcome } from './provider.ts';

/** Minimum wait after 429, in milliseconds. */
const LEAST_WAIT = 5000;
const SHOWN = 300;

/**
 * Classifies a response.
 * @param done the outcome of a success by its body, null if the body does not say
 * @param names whether the body of a 403 names an object that was sent
 */
export function classifyAnswer(
  result: CallResult,
  done: (body: Readonly<Record<string, unknown>>) => Outcome | null,
  names: (body: string) => boolean,
): Outcome {
  if (result.failure !== undefined) return { is: 'retry', detail: result.failure };
  const { status, headers, body } = result;
  const detail = `${status} ${summary(body)}`.trim();
  if (status >= 200 && status < 300)
    return done(asObject(body)) ?? { is: 'retry', detail: `${status} without a known body` };
  switch (status) {
    case 429:
      return { is: 'limited', wait: waitOf(headers, body), detail };
    case 413:
      return { is: 'split', detail };
    case 400:
      return { is: 'bisect', detail };
    case 401:
      return { is: 'pause', detail };
    case 403:
      return { is: names(body) ? 'bisect' : 'pause', detail };
    default:
      return { is: 'retry', detail };
  }
}

/** The longest wait that the response asks for. */
function waitOf(headers: Readonly<Record<string, string>>, body: string): number {
  const seconds = [
    headers['retry-after'],
    headers['x-ratelimit-seconds-to-refresh-limit'],
    headers['x-ratelimit-seconds-to-refresh-limit-objects'],
  ].map((text) => (text === undefined ? 0 : /^\d+(\.\d+)?$/.test(text) ? Number(text) : dateWait(text)));
  const { secondsToRefresh } = asObject(body);
  const asked = Math.max(0, ...seconds, typeof secondsToRefresh === 'number' ? secondsToRefresh : 0);
  return Math.max(LEAST_WAIT, Math.min(asked, 86_400) * 1000);
}

function dateWait(text: string): number {
  const at = Date.parse(text);
  return Number.isNaN(at) ? 0 : (at - Date.now()) / 1000;
}

export function asObject(body: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function summary(body: string): string {
  const { detail, title, message } = asObject(body);
  const text = [title, detail, message].filter((part) => typeof part === 'string').join(': ');
  return (text === '' ? body : text).replace(/\s+/g, ' ').slice(0, SHOWN);
}
