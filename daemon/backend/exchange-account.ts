// The bytes of one exchange with an origin, added to the backend's counters as they move. As in Varnish, heads count
// with their blank line, request bodies as sent, and response bodies without their framing.

import type { ExchangeCounters } from './exchange-roles.ts';

export class ExchangeAccount {
  headOut = 0;
  bodyOut = 0;
  headIn = 0;
  bodyIn = 0;
  /** Pieces in which the body arrived. */
  piecesIn = 0;
  private counters: ExchangeCounters | null = null;

  /** Starts another exchange, of the backend with these counters. */
  begin(counters: ExchangeCounters): void {
    this.counters = counters;
    this.headOut = 0;
    this.bodyOut = 0;
    this.headIn = 0;
    this.bodyIn = 0;
    this.piecesIn = 0;
  }

  sentHead(bytes: number): void {
    this.headOut = bytes;
    if (this.counters !== null) this.counters.bereq_hdrbytes += bytes;
  }

  sentBody(bytes: number): void {
    this.bodyOut += bytes;
    if (this.counters !== null) this.counters.bereq_bodybytes += bytes;
  }

  gotHead(bytes: number): void {
    this.headIn = bytes;
    if (this.counters !== null) this.counters.beresp_hdrbytes += bytes;
  }

  gotBody(bytes: number, pieces: number): void {
    this.bodyIn += bytes;
    this.piecesIn += pieces;
    if (this.counters !== null) this.counters.beresp_bodybytes += bytes;
  }
}
