// What the fleet is called on the bus: its stream, its bucket, its subjects; and what a message may be. The README beside
// this file is the same for those who publish without proxyd.

export class FleetNames {
  readonly stream: string;
  readonly nodes: string;
  readonly programs: string;
  /** All that the stream keeps. */
  readonly invalidations: string;
  private readonly root: string;

  /** @param fleet checked by isName() */
  constructor(fleet: string) {
    this.root = `proxyd.${fleet}`;
    this.stream = `proxyd_${fleet}_invalidate`;
    this.nodes = `proxyd_${fleet}_nodes`;
    this.programs = `proxyd_${fleet}_programs`;
    this.invalidations = `${this.root}.invalidate.*`;
  }

  /** Where a node publishes: its own subject, so that an account of the bus may be held to it. */
  invalidate(node: string): string {
    return `${this.root}.invalidate.${node}`;
  }

  /** What `node` has applied of what `publisher` published. */
  applied(publisher: string, node: string): string {
    return `${this.root}.applied.${publisher}.${node}`;
  }
}

/** A name of a fleet or a node: one word of a subject, and of a key. */
export function isName(text: string): boolean {
  return /^[A-Za-z0-9_-]{1,64}$/.test(text);
}

/** A name of a program: as vcl.load takes it, and one word of a key. */
export function isProgramName(text: string): boolean {
  return /^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(text);
}

/** Keys in the bucket of programs. */
export const ACTIVE = 'active';
const PROGRAM = 'program.';

export function programKey(name: string): string {
  return `${PROGRAM}${name}`;
}

/** Null of a key that is none of a program. */
export function programOfKey(key: string): string | null {
  const name = key.startsWith(PROGRAM) ? key.slice(PROGRAM.length) : '';
  return isProgramName(name) ? name : null;
}

/** The last word of a subject. */
export function lastWord(subject: string): string {
  return subject.slice(subject.lastIndexOf('.') + 1);
}

/** Bytes of a message. A ban has at most 16,384 characters, and keys come in a header of at most 64 KiB (chosen). */
export const LONGEST_MESSAGE = 64 * 1024;

/** Of the stream, when it is made. A day is longer than a node is away that is to come back with its cache. */
export const STREAM_LIMITS = {
  seconds: 24 * 3600,
  messages: 1_000_000,
  bytes: 256 * 1024 * 1024,
  /** Within which a message that is sent again is known by its id. */
  repeatedWithin: 120,
} as const;

/** Nanoseconds, in which the bus counts, in a millisecond. */
export const NANO = 1e6;

/** Milliseconds between two signs of life of a node; without any for SILENT it is behind, for GONE it is no node. */
export const HEARTBEAT = 2000;
export const SILENT = 7000;
export const GONE = 30_000;

/** Bytes of a program with all that it includes: half of what a message of NATS has at most, unless its servers are told
 * otherwise. */
export const LONGEST_BUNDLE = 512 * 1024;
/** Programs of a fleet (chosen). */
export const MOST_PROGRAMS = 32;

/** Bytes of a sign of life. One has 500 as a rule; errors of compilers take more. */
export const LONGEST_BEAT = 16 * 1024;
