// Derives events from the counters that no command and no process reports: unusually many purges, evictions for want of
// room, a falling hit rate, and a rising share of passes, which the hit rate does not count. It gets every sample of the
// manager's and notes the beginning and, for purges and evictions, the end.

import type { CounterInfo } from '../../protocol/messages.ts';
import type { CounterSnapshot } from './counters-reader.ts';

/** Seconds of the current period (chosen). */
const NOW = 10;
/** Seconds before it that the hit rate is compared with (chosen). */
const BEFORE = 60;
/** Purges, and objects purged, in the current period from which a note is made; it ends below half of that (chosen). */
const MANY_PURGES = 100;
const MANY_OBJECTS = 1000;
/** Change of a share that is noted, and the fewest lookups (or requests) that make one (chosen). */
const STEP = 0.1;
const FEW = 30;
/** Standard deviations that a change must exceed to be no chance. */
const CHANCE = 3;
/** Evictions in the current period, and among them and the fetches, from which a note is made: a full cache always evicts
 * a little. It ends when a whole period has seen fewer than half of that (chosen). */
const MANY_EVICTED = 50;
const EVICTED_SHARE = 0.25;
/** Seconds after which a changed share counts as the usual one, so that the next change is noted. */
const GET_USED = 300;

const PURGES = ['n_purges', 'xkey_purges', 'xkey_soft_purges'];
/** Soft purges are counted among the purges; purges by surrogate key are counted apart. */
const PURGED = ['n_obj_purged', 'xkey_obj_purged', 'xkey_obj_soft_purged'];

interface Sample {
  /** Epoch seconds. */
  at: number;
  uptime: number;
  hits: number;
  lookups: number;
  passes: number;
  /** Lookups and passes. */
  handled: number;
  purges: number;
  objects: number;
  evicted: number;
  fetches: number;
}

export type Note = (kind: 'purges' | 'evictions' | 'hit-rate' | 'passes', text: string) => void;

function taken(purges: number, seconds: number, objects: number): string {
  const what = `${purges} ${purges === 1 ? 'purge' : 'purges'} in ${seconds} s`;
  return `${what}, ${objects} ${objects === 1 ? 'object' : 'objects'} gone`;
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

interface Share {
  /** 0..1; NaN of nothing. */
  share: number;
  of: number;
}

/** Reports once that a share has fallen or risen. */
class ShareWatch {
  private readonly sign: 1 | -1;
  private changed: { at: number; usual: number } | null = null;

  /** @param sign -1 for a share that falls, 1 for one that rises */
  constructor(sign: 1 | -1) {
    this.sign = sign;
  }

  /** The shares of a change to be noted, or null. @param at epoch seconds */
  take(
    at: number,
    { share: usual, of: before }: Share,
    { share: now, of }: Share,
  ): { usual: number; now: number } | null {
    if (of < FEW || before < FEW) return null;
    const { changed, sign } = this;
    if (changed !== null) {
      if (sign * (now - changed.usual) <= STEP / 2 || at - changed.at > GET_USED) this.changed = null;
      return null;
    }
    const chance = CHANCE * Math.sqrt((usual * (1 - usual)) / of);
    if (sign * (now - usual) < Math.max(STEP, chance)) return null;
    this.changed = { at, usual };
    return { usual, now };
  }
}

export class CounterWatch {
  private readonly note: Note;
  private readonly places = new Map<string, number>();
  private info: CounterSnapshot['info'] | null = null;
  /** Samples of the last NOW + BEFORE seconds, oldest first. */
  private samples: Sample[] = [];
  /** The sample at which a storm of purges began. */
  private storm: Sample | null = null;
  /** The sample at which evictions began. */
  private evicting: Sample | null = null;
  private readonly hitShare = new ShareWatch(-1);
  private readonly passShare = new ShareWatch(1);

  constructor(note: Note) {
    this.note = note;
  }

  /** @param at milliseconds of the epoch */
  take(at: number, snapshot: CounterSnapshot): void {
    const sample = this.read(at / 1000, snapshot);
    const last = this.samples.at(-1);
    // A new worker counts from zero, and a clock that was set makes the intervals meaningless.
    if (last !== undefined && (sample.uptime < last.uptime || sample.at <= last.at)) {
      this.samples = [];
      this.storm = null;
      this.evicting = null;
    }
    this.samples.push(sample);
    while ((this.samples[0] as Sample).at < sample.at - NOW - BEFORE) this.samples.shift();
    const begin = this.before(sample.at - NOW);
    if (begin === undefined) return;
    this.watchPurges(begin, sample);
    this.watchEvictions(begin, sample);
    this.watchShares(begin, sample);
  }

  private watchPurges(begin: Sample, now: Sample): void {
    const purges = now.purges - begin.purges;
    const objects = now.objects - begin.objects;
    const share = Math.max(purges / MANY_PURGES, objects / MANY_OBJECTS);
    if (this.storm === null && share >= 1) {
      this.storm = begin;
      this.note('purges', taken(purges, NOW, objects));
    } else if (this.storm !== null && share < 0.5) {
      const { at, purges: first, objects: had } = this.storm;
      this.storm = null;
      const seconds = Math.round(now.at - at);
      this.note('purges', `over: ${taken(now.purges - first, seconds, now.objects - had)}`);
    }
  }

  private watchEvictions(begin: Sample, now: Sample): void {
    const evicted = now.evicted - begin.evicted;
    const least = Math.max(MANY_EVICTED, EVICTED_SHARE * (now.fetches - begin.fetches));
    if (this.evicting === null && evicted >= least) {
      this.evicting = begin;
      this.note('evictions', `the cache is full: ${evicted} objects evicted in ${NOW} s`);
    } else if (this.evicting !== null && evicted < least / 2) {
      const { at, evicted: had } = this.evicting;
      this.evicting = null;
      this.note('evictions', `over: ${now.evicted - had} objects evicted in ${Math.round(now.at - at)} s`);
    }
  }

  private watchShares(begin: Sample, now: Sample): void {
    const first = this.samples[0] as Sample;
    const share = (from: Sample, to: Sample, part: 'hits' | 'passes', all: 'lookups' | 'handled'): Share => ({
      of: to[all] - from[all],
      share: (to[part] - from[part]) / (to[all] - from[all]),
    });
    const hits = this.hitShare.take(
      now.at,
      share(first, begin, 'hits', 'lookups'),
      share(begin, now, 'hits', 'lookups'),
    );
    if (hits !== null)
      this.note(
        'hit-rate',
        `hit rate fell from ${percent(hits.usual)} to ${percent(hits.now)} (last ${NOW} s)`,
      );
    const passes = this.passShare.take(
      now.at,
      share(first, begin, 'passes', 'handled'),
      share(begin, now, 'passes', 'handled'),
    );
    if (passes !== null)
      this.note(
        'passes',
        `passes rose from ${percent(passes.usual)} to ${percent(passes.now)} of requests (last ${NOW} s)`,
      );
  }

  /** The last sample not later than this. */
  private before(at: number): Sample | undefined {
    return this.samples.findLast((sample) => sample.at <= at);
  }

  private read(at: number, { info, values }: CounterSnapshot): Sample {
    if (info !== this.info) {
      this.info = info;
      this.places.clear();
      // Skips the counters of up to a hundred thousand backends.
      for (let i = 0; i < info.length; i++) {
        const { name } = info[i] as CounterInfo;
        if (name.startsWith('MAIN.')) this.places.set(name, i);
      }
    }
    const value = (name: string): number => Number(values[this.places.get(`MAIN.${name}`) ?? -1] ?? 0n);
    const sum = (names: readonly string[]): number => names.reduce((all, name) => all + value(name), 0);
    const hits = value('cache_hit');
    const lookups = hits + value('cache_miss');
    const passes = value('s_pass');
    return {
      at,
      uptime: value('uptime'),
      hits,
      lookups,
      passes,
      handled: lookups + passes,
      purges: sum(PURGES),
      objects: sum(PURGED),
      evicted: value('n_lru_nuked'),
      fetches: value('s_fetch'),
    };
  }
}
