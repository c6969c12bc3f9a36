// Names on the bus (stream, buckets, subjects) and limits of messages. The README beside this file documents them for
// clients other than proxyd.

export class FleetNames {
  readonly stream: string;
  readonly nodes: string;
  readonly programs: string;
  readonly certificates: string;
  /** Subject filter of the stream. */
  readonly invalidations: string;
  private readonly root: string;

  /** @param fleet validated with isName() */
  constructor(fleet: string) {
    this.root = `proxyd.${fleet}`;
    this.stream = `proxyd_${fleet}_invalidate`;
    this.nodes = `proxyd_${fleet}_nodes`;
    this.programs = `proxyd_${fleet}_programs`;
    this.certificates = `proxyd_${fleet}_certificates`;
    this.invalidations = `${this.root}.invalidate.*`;
  }

  /** The subject on which a node publishes: one per node, so that bus permissions can restrict it. */
  invalidate(node: string): string {
    return `${this.root}.invalidate.${node}`;
  }

  /** The subject on which `node` acknowledges messages of `publisher`. */
  applied(publisher: string, node: string): string {
    return `${this.root}.applied.${publisher}.${node}`;
  }
}

/** Whether a text can name a fleet or a node: one token of a subject and of a key. */
export function isName(text: string): boolean {
  return /^[A-Za-z0-9_-]{1,64}$/.test(text);
}

/** Whether a text can name a program: valid for vcl.load, and one token of a key. */
export function isProgramName(text: string): boolean {
  return /^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(text);
}

/** Keys in the bucket of programs. */
export const ACTIVE = 'active';
const PROGRAM = 'program.';

export function programKey(name: string): string {
  return `${PROGRAM}${name}`;
}

/** Null if the key does not name a program. */
export function programOfKey(key: string): string | null {
  const name = key.startsWith(PROGRAM) ? key.slice(PROGRAM.length) : '';
  return isProgramName(name) ? name : null;
}

/** The last token of a subject. */
export function lastWord(subject: string): string {
  return subject.slice(subject.lastIndexOf('.') + 1);
}

/** Bytes of a message. A ban has at most 16,384 characters, and keys come in a header of at most 64 KiB (chosen). */
export const LONGEST_MESSAGE = 64 * 1024;

/** Limits of a new stream. A day is longer than a node should be away and still return with its cache. */
export const STREAM_LIMITS = {
  seconds: 24 * 3600,
  messages: 1_000_000,
  bytes: 256 * 1024 * 1024,
  /** Seconds within which a repeated message is detected by its id. */
  repeatedWithin: 120,
} as const;

/** Nanoseconds, the unit of the bus, per millisecond. */
export const NANO = 1e6;

/** Milliseconds between heartbeats of a node. Without one for SILENT a node counts as behind, for GONE it is
 * removed. */
export const HEARTBEAT = 2000;
export const SILENT = 7000;
export const GONE = 30_000;

/** Bytes of a program with its includes: half of the default maximum of a NATS message. */
export const LONGEST_BUNDLE = 512 * 1024;
/** Programs per fleet (chosen). */
export const MOST_PROGRAMS = 32;

/** Bytes of a value in the bucket of certificates: a chain and a key have ten thousand. */
export const LONGEST_CERTIFICATE = 64 * 1024;
/** Bytes of that bucket (chosen): two thousand certificates. */
export const ALL_CERTIFICATES = 32 * 1024 * 1024;

/** Bytes of a heartbeat. It usually has 500; compiler errors take more. */
export const LONGEST_BEAT = 16 * 1024;
