// Gentle traffic: a few visitors with habits, over kept connections. Load swells and ebbs, so that charts
// have something to show. It counts and never stops for an error: failing pages belong to the demo.

import { Agent, request } from 'node:http';
import { newScene, type Scene } from './drama.ts';

/** Paths with their weights: what visitors ask for, the head of a long tail. */
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
  /** Requests answered, and requests that got no answer. */
  readonly answered: number;
  readonly failed: number;
  stop(): void;
}

export interface TrafficOptions {
  host: string;
  /** Of proxies that are the same to visitors. */
  ports: readonly number[];
  /** Of the edge network, through which a share of the visitors come. */
  edgePort?: number;
  random: () => number;
  /** Mean requests a second. */
  perSecond: number;
  scene?: Scene;
}

/** Of all requests, if there is an edge network: most of what it is asked for never reaches the proxy. */
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
  /** Each visitor of a newsletter has a link of his own. */
  let letters = 0;

  const one = (path: string): void => {
    const headers = {
      Host: 'shop.example',
      'User-Agent': 'proxyd-demo',
      'Accept-Language': pick(LANGUAGES, random),
    };
    // Some visitors come for one page and go.
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
    // Squaring the draw makes low numbers popular, as pages are.
    return path.replace(/\{(\d+)\}/, (_all, n: string) => String(Math.floor(random() ** 2 * Number(n))));
  }
  return '/';
}

function pick<T>(list: readonly T[], random: () => number): T {
  return list[Math.floor(random() * list.length)] as T;
}

/** A small generator of numbers in 0..1 that repeats for a seed (mulberry32). */
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
