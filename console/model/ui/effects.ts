// What a command would do to the traffic of this moment, in words for its question.

import type { DaemonSession } from '../session/daemon-session.ts';
import { rate } from './numbers.ts';

interface EffectRow {
  readonly command: string;
  /** '' where nothing is known, or nothing is in the way. */
  effect(words: readonly string[], session: DaemonSession): string;
}

const EFFECTS: readonly EffectRow[] = [
  {
    command: 'backend.set_health',
    effect: ([, pattern = '', state = ''], session) => {
      if (!/^sick$/i.test(state)) return '';
      const hit = session.backends.filter(({ name, type }) => type === 'backend' && isMeant(pattern, name));
      const load = hit.reduce((sum, { name }) => sum + session.counters.rate(`VBE.${name}.req`), 0);
      if (hit.length === 0 || Number.isNaN(load)) return '';
      const what = hit.length === 1 ? 'it gets' : `these ${hit.length} backends get`;
      return load > 0 ? `${what} ${rate(load)} requests/s now` : `${what} no requests now`;
    },
  },
  {
    command: 'stop',
    effect: (_words, { counters }) => {
      const load = counters.rate('MAIN.client_req');
      return load > 0 ? `${rate(load)} requests/s come in now` : '';
    },
  },
];

/** A clause for the question before a command; '' without one. */
export function effectOf(line: string, session: DaemonSession): string {
  const words = line.trim().split(/\s+/);
  return EFFECTS.find(({ command }) => command === words[0])?.effect(words, session) ?? '';
}

/** A pattern of backends: a full name, a name without its program, or with `*` and `?`. */
function isMeant(pattern: string, name: string): boolean {
  const glob = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\*+/g, '.*')
    .replace(/\?/g, '.');
  const shape = new RegExp(`^${glob}$`);
  return shape.test(name) || shape.test(name.slice(name.indexOf('.') + 1));
}
