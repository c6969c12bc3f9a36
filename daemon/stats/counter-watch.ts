// Derives events from the counters that no command and no process reports: unusually many purges, and a falling hit
// rate. It gets every sample of the manager's and notes the beginning and, for purges, the end.

import type { CounterInfo } from '../../protocol/messages.ts';
import type { CounterSnapshot } from './counters-reader.ts';

/** Seconds of the current period (chosen). */
const NOW = 10;
/** Seconds before it that the hit rate is compared with (chosen). */
const BEFORE = 60;
/** Purges, and objects purged, in the current period from which a note is made; it ends below half of that (chosen). */
const MANY_PURGES = 100;
const MANY_OBJECTS = 1000;
/** Drop of the hit rate that is noted, and the fewest lookups that make a rate (chosen). */
const DROP = 0.1;
const FEW_LOOKUPS = 30;
/** Standard deviations that a drop must exceed to be no chance. */
const CHANCE = 3;
/** Seconds after which a low hit rate counts as the usual one, so that the next drop is noted. */
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
  purges: number;
  objects: number;
}

export type Note = (kind: 'purges' | 'hit-rate', text: string) => void;

function taken(purges: number, seconds: number, objects: number): string {
  const what = `${purges} ${purges === 1 ? 'purge' : 'purges'} in ${seconds} s`;
  return `${what}, ${objects} ${objects === 1 ? 'object' : 'objects'} gone`;
}

export class CounterWatch {
  private readonly note: Note;
  private readonly places = new Map<string, number>();
  private info: CounterSnapshot['info'] | null = null;
  /** Samples of the last NOW + BEFORE seconds, oldest first. */
  private samples: Sample[] = [];
  /** The sample at which a storm of purges began. */
  private storm: Sample | null = null;
  private dropped: { at: number; rate: number } | null = null;

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
    }
    this.samples.push(sample);
    while ((this.samples[0] as Sample).at < sample.at - NOW - BEFORE) this.samples.shift();
    const begin = this.before(sample.at - NOW);
    if (begin === undefined) return;
    this.watchPurges(begin, sample);
    this.watchHits(begin, sample);
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

  private watchHits(begin: Sample, now: Sample): void {
    const first = this.samples[0] as Sample;
    const recent = now.lookups - begin.lookups;
    const earlier = begin.lookups - first.lookups;
    if (recent < FEW_LOOKUPS || earlier < FEW_LOOKUPS) return;
    const rate = (now.hits - begin.hits) / recent;
    const usual = (begin.hits - first.hits) / earlier;
    const { dropped } = this;
    if (dropped !== null) {
      if (rate >= dropped.rate - DROP / 2 || now.at - dropped.at > GET_USED) this.dropped = null;
      return;
    }
    const chance = CHANCE * Math.sqrt((usual * (1 - usual)) / recent);
    if (usual - rate < Math.max(DROP, chance)) return;
    this.dropped = { at: now.at, rate: usual };
    const percent = (share: number): string => `${Math.round(share * 100)} %`;
    this.note('hit-rate', `hit rate fell from ${percent(usual)} to ${percent(rate)} (last ${NOW} s)`);
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
    return {
      at,
      uptime: value('uptime'),
      hits,
      lookups: hits + value('cache_miss'),
      purges: sum(PURGES),
      objects: sum(PURGED),
    };
  }
}
