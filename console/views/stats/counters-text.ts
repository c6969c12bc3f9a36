// Counters as text, for views that show them: a line each.

import type { Counter } from '../../model/counter-history.ts';

/** Name, value and change a second; as columns or as NDJSON, where a value keeps all its digits. */
export function countersText(counters: readonly Counter[], json: boolean): string {
  return counters
    .map(({ info, current, change }) =>
      json
        ? `{"name":${JSON.stringify(info.name)},"value":${current},"change":${change}}\n`
        : `${info.name}\t${current}\t${change.toFixed(2)}\n`,
    )
    .join('');
}
