// Invalidations as messages: JSON with a version. Messages from the bus are untrusted input: readMessage() validates
// and limits everything, and returns the reason if it refuses one.

import type { Invalidation, SoftLives } from '../contract/invalidation.ts';
import { LONGEST_MESSAGE } from './fleet-names.ts';

const VERSION = 1;
/** Characters of a subject (chosen): more than any part of the cache accepts. */
const LONGEST_SUBJECT = 60_000;
/** Characters of the origin, which is only logged. */
const LONGEST_BY = 100;
/** Seconds; a soft purge never extends a lifetime. */
const LONGEST_LIFE = 1e9;

/** Encodes an event. */
export function writeMessage({ kind, soft, subject, words, lives, origin }: Invalidation): Uint8Array {
  const what =
    kind === 'purge'
      ? { url: subject, ...lives }
      : kind === 'tags'
        ? { keys: subject }
        : { expression: words ?? subject };
  const name = kind === 'tags' ? 'keys' : kind;
  return Buffer.from(JSON.stringify({ v: VERSION, kind: name, soft, ...what, by: origin }));
}

/** Decodes an event; a string is the reason why it is invalid. */
export function readMessage(data: Uint8Array): Invalidation | string {
  if (data.length > LONGEST_MESSAGE) return `longer than ${LONGEST_MESSAGE} bytes`;
  let message: unknown;
  try {
    message = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(data));
  } catch {
    return 'not JSON';
  }
  if (typeof message !== 'object' || message === null || Array.isArray(message)) return 'not an object';
  const { v, kind, soft = false, by = '' } = message as Record<string, unknown>;
  if (v !== VERSION) return typeof v === 'number' ? `unknown version ${v}` : 'no version';
  if (typeof soft !== 'boolean') return 'soft is not true or false';
  if (typeof by !== 'string') return 'by is not a string';
  // Printable characters only: it is written to log records.
  const origin = by.replace(/[^\x20-\x7e]/g, '?').slice(0, LONGEST_BY);
  const rest = message as Record<string, unknown>;
  const base = { soft, origin, count: null };
  switch (kind) {
    case 'purge': {
      const subject = textOf(rest.url);
      if (subject === null || !/^[^\s]+$/.test(subject)) return 'url is not a URL';
      const lives = soft ? livesOf(rest) : null;
      if (lives === 'wrong') return 'ttl, grace or keep is not a number of seconds';
      return { ...base, kind, subject, ...(lives === null ? {} : { lives }) };
    }
    case 'keys': {
      const subject = textOf(rest.keys);
      if (subject === null || subject.trim() === '') return 'keys has no keys';
      return { ...base, kind: 'tags', subject };
    }
    case 'ban': {
      if (Array.isArray(rest.expression)) {
        const words = rest.expression.map(textOf);
        if (words.length > 1000 || !words.every((word) => word !== null))
          return 'expression is not a list of words';
        return { ...base, kind, subject: words.join(' '), words };
      }
      const subject = textOf(rest.expression);
      return subject === null ? 'expression is not a string' : { ...base, kind, subject };
    }
    default:
      return 'unknown kind';
  }
}

/** Null if it is no string, or contains characters that a log line must not have. */
function textOf(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > LONGEST_SUBJECT) return null;
  return /[\0\n\r]/.test(value) ? null : value;
}

function livesOf(message: Record<string, unknown>): SoftLives | null | 'wrong' {
  const { ttl = 0, grace = -1, keep = -1 } = message;
  if (message.ttl === undefined && message.grace === undefined && message.keep === undefined) return null;
  const all = [ttl, grace, keep];
  if (!all.every((n) => typeof n === 'number' && Math.abs(n) <= LONGEST_LIFE)) return 'wrong';
  const lives = { ttl, grace, keep } as SoftLives;
  return message.shortens === true ? { ...lives, shortens: true } : lives;
}
