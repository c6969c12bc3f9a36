// The history of a probe: a shift register of 64 polls for each property of a poll, the number of good ones among the
// last, and the average time of good ones. It renders itself for the log and for backend.list. It decides nothing: the
// probe compares `good` with the threshold.

import type { ProbeSettings } from './probe-settings.ts';

const ROWS = [
  ['4', 'Good IPv4'],
  ['6', 'Good IPv6'],
  ['U', 'Good UNIX'],
  ['x', 'Error Xmit'],
  ['X', 'Good Xmit'],
  ['r', 'Error Recv'],
  ['R', 'Good Recv'],
  ['H', 'Happy'],
] as const;

const HAPPY = ROWS.length - 1;

type Row = (typeof ROWS)[number];
/** One property of a poll, by its letter in the log. */
export type ProbeBit = Row[0];

const POLLS = 64;
/** Weight of the running average, as in Varnish. */
const MEMORY = 4;

export class ProbeWindow {
  /** Good polls among the last `window` ones. */
  good = 0;
  /** Seconds of the last poll; 0 without an answer. */
  last = 0;
  /** Average seconds of the good polls. */
  average = 0;
  private rate = 0;
  /** One register per row; polls older than 64 drop out by themselves. */
  private readonly bits = new BigUint64Array(ROWS.length);
  private readonly settings: ProbeSettings;
  private readonly mask: bigint;

  constructor(settings: ProbeSettings) {
    this.settings = settings;
    this.mask = (1n << BigInt(settings.window)) - 1n;
    this.reset();
  }

  /**
   * Clears all polls and adds the initial good ones, with a time of 0. Without initial ones the last count of good
   * polls stays until the next poll, as in Varnish.
   */
  reset(): void {
    this.bits.fill(0n);
    this.average = 0;
    this.rate = 0;
    for (let i = 0; i < this.settings.initial; i++) this.add(['H'], 0);
  }

  /** Adds one poll: its properties and its time in seconds. */
  add(known: readonly ProbeBit[], seconds: number): void {
    for (let row = 0; row < ROWS.length; row++) {
      this.bits[row] = (this.row(row) << 1n) | (known.includes((ROWS[row] as Row)[0]) ? 1n : 0n);
    }
    this.last = seconds;
    if (known.includes('H')) {
      if (this.rate < MEMORY) this.rate++;
      this.average += (seconds - this.average) / this.rate;
    }
    this.good = count(this.happy & this.mask);
  }

  /** Good polls as bits, the last one lowest. */
  get happy(): bigint {
    return this.row(HAPPY);
  }

  /** The last poll in the log's format: a letter for each property that holds, else a dash. */
  lastBits(): string {
    return ROWS.map(([bit], row) => ((this.row(row) & 1n) === 1n ? bit : '-')).join('');
  }

  /** The lines that backend.list -p adds, each with its line end. */
  text(): string {
    const { threshold, window } = this.settings;
    const lines = [
      ` Current states  good: ${pad(this.good)} threshold: ${pad(threshold)} window: ${pad(window)}`,
      `  Average response time of good probes: ${this.average.toFixed(6)}`,
      '  Oldest ================================================== Newest',
    ];
    for (const [row, [bit, label]] of ROWS.entries()) {
      const polls = this.row(row);
      // The last row is always shown.
      if (polls === 0n && bit !== 'H') continue;
      lines.push(
        `  ${polls.toString(2).padStart(POLLS, '0').replaceAll('0', '-').replaceAll('1', bit)} ${label}`,
      );
    }
    return lines.map((line) => `${line}\n`).join('');
  }

  /** The value of probe_details, with all lines but the first indented as in the file. */
  json(): string {
    const { threshold, window } = this.settings;
    const rows = ROWS.map(([bit], row) => `        "bits_${bit}": ${this.row(row)}`);
    rows.push(
      `        "good": ${this.good}`,
      `        "threshold": ${threshold}`,
      `        "window": ${window}`,
    );
    return `{\n${rows.join(',\n')}\n      }`;
  }

  private row(row: number): bigint {
    return this.bits[row] as bigint;
  }
}

function pad(n: number): string {
  return String(n).padStart(2);
}

function count(bits: bigint): number {
  let n = 0;
  for (let rest = bits; rest !== 0n; rest &= rest - 1n) n++;
  return n;
}
