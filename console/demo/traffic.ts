// Light traffic: a few visitors with habits, over kept-alive connections. The load varies to give charts a shape.
// Errors are counted and otherwise ignored: failing pages are part of the demo.

import { Agent, request } from 'node:http';
import { newScene, type Scene } from './drama.ts';

/** Paths and their weights; placeholders make a long tail. */
const WEIGHTS: readonly [string, number][] = [
  ['/', 9],
  ['/home', 4],
  ['/products/{400}', 26],
  ['/img/{60}.svg', 20],
  ['/static/app.css', 5],
  ['/static/app.js', 5],
  ['/articles/how-caches-work', 4],
  ['/articles/notes-{300}', 7],
  ['/api/stock/{40}', 9],
  ['/search?q=lamp', 3],
  ['/cart', 3],
  ['/missing/{40}', 2],
  ['/old/page', 1],
  ['/status', 1],
  ['/checkout', 0.6],
  ['/reports/{8}', 0.5],
];

const LANGUAGES = ['en', 'en', 'en', 'de', 'de', 'fr'];
const TICK_MS = 50;

export interface Traffic {
  /** Requests with a response, and without one. */
  readonly answered: number;
  readonly failed: number;
  stop(): void;
}

export interface TrafficOptions {
  host: string;
  /** Ports of interchangeable proxies. */
  ports: readonly number[];
  /** Port of the edge network, used by a share of the visitors. */
  edgePort?: number;
  random: () => number;
  /** Mean requests per second. */
  perSecond: number;
  scene?: Scene;
}

/** Share of requests through the edge network, most of which it answers itself. */
const EDGE_SHARE = 0.3;

export function startTraffic({
  host,
  ports,
  edgePort,
  random,
  perSecond,
  scene = newScene(),
}: TrafficOptions): Traffic {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  const total = WEIGHTS.reduce((sum, [, weight]) => sum + weight, 0);
  const counts = { answered: 0, failed: 0 };
  let ticks = 0;
  let owed = 0;
  let owedByLetter = 0;
  /** Each newsletter visitor has a unique link. */
  let letters = 0;

  const one = (path: string): void => {
    const headers = {
      Host: 'shop.example',
      'User-Agent': 'proxyd-demo',
      'Accept-Language': pick(LANGUAGES, random),
    };
    // Some visitors request one page on a connection of their own.
    const own = random() < 0.08 ? false : agent;
    const through = edgePort !== undefined && random() < EDGE_SHARE ? edgePort : pick(ports, random);
    const sent = request({ agent: own, host, port: through, path, headers, timeout: 10_000 }, (response) => {
      response.on('end', () => {
        counts.answered++;
      });
      response.on('error', () => undefined);
      response.resume();
    });
    sent.on('timeout', () => sent.destroy());
    sent.on('error', () => {
      counts.failed++;
    });
    sent.end();
  };

  const timer = setInterval(() => {
    ticks++;
    const swell = 1 + 0.55 * Math.sin((ticks * TICK_MS) / 9000) + 0.15 * Math.sin((ticks * TICK_MS) / 1900);
    owed += (perSecond * swell * TICK_MS) / 1000;
    for (; owed >= 1; owed--) one(choosePath(total, random));
    owedByLetter += (perSecond * scene.burst * TICK_MS) / 1000;
    for (; owedByLetter >= 1; owedByLetter--) one(`/products/7?utm_source=newsletter&utm_id=${letters++}`);
  }, TICK_MS);

  return {
    get answered() {
      return counts.answered;
    },
    get failed() {
      return counts.failed;
    },
    stop: () => {
      clearInterval(timer);
      agent.destroy();
    },
  };
}

function choosePath(total: number, random: () => number): string {
  let left = random() * total;
  for (const [path, weight] of WEIGHTS) {
    left -= weight;
    if (left > 0) continue;
    // Squaring the random number makes low page numbers popular.
    return path.replace(/\{(\d+)\}/, (_all, n: string) => String(Math.floor(random() ** 2 * Number(n))));
  }
  return '/';
}

function pick<T>(list: readonly T[], random: () => number): T {
  return list[Math.floor(random() * list.length)] as T;
}

/** A small seeded generator of numbers in 0..1 (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
