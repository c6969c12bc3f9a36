// Gentle traffic: a few visitors with habits, over kept connections. Load swells and ebbs, so that charts
// have something to show. It counts and never stops for an error: failing pages belong to the demo.

import { Agent, request } from 'node:http';

/** Paths with their weights: what visitors ask for, the head of a long tail. */
const WEIGHTS: readonly [string, number][] = [
  ['/', 18],
  ['/products/{40}', 24],
  ['/img/{24}.svg', 22],
  ['/static/app.css', 7],
  ['/static/app.js', 7],
  ['/articles/how-caches-work', 5],
  ['/articles/notes-{60}', 4],
  ['/api/stock/{6}', 6],
  ['/search?q=lamp', 2],
  ['/cart', 2],
  ['/missing/{5}', 1],
  ['/old/page', 0.6],
  ['/checkout', 0.5],
  ['/reports/2026', 0.4],
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
  port: number;
  random: () => number;
  /** Mean requests a second. */
  perSecond: number;
}

export function startTraffic({ host, port, random, perSecond }: TrafficOptions): Traffic {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  const total = WEIGHTS.reduce((sum, [, weight]) => sum + weight, 0);
  const counts = { answered: 0, failed: 0 };
  let ticks = 0;
  let owed = 0;

  const one = (): void => {
    const headers = {
      Host: 'shop.example',
      'User-Agent': 'proxyd-demo',
      'Accept-Language': pick(LANGUAGES, random),
    };
    const sent = request(
      { agent, host, port, path: choosePath(total, random), headers, timeout: 10_000 },
      (response) => {
        response.on('end', () => {
          counts.answered++;
        });
        response.on('error', () => undefined);
        response.resume();
      },
    );
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
    for (; owed >= 1; owed--) one();
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

function pick(list: readonly string[], random: () => number): string {
  return list[Math.floor(random() * list.length)] as string;
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
