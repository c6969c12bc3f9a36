// Markers (hit-for-miss, hit-for-pass) that a newer object of their variant hides from every lookup.
//
// A fetch removes the one object it was made for, but many fetches of an uncacheable URL run at once and start
// from the same marker: without this the others would pile up until they expire. Looks at a few objects
// only; what it leaves, the next fetch finds. Never kills by itself.

import * as row from './objcore.ts';
import { type Oc, stateIn } from './objcore.ts';
import type { ObjectStore } from './object-store.ts';
import type { Rows } from './rows.ts';
import { sameStored } from './vary.ts';

/** Objects looked at behind a new one. */
const LOOK = 16;

/** Complete markers of the same variant that come after `oc` in its key's chain. */
export function markersBehind(rows: Rows, store: ObjectStore, oc: Oc): Oc[] {
  const found: Oc[] = [];
  let other = rows.get(oc, row.KEY_NEXT);
  for (let looked = 0; other !== 0 && looked < LOOK; looked++) {
    const meta = rows.get(other, row.META);
    if (
      (meta & row.OF_MARKER) !== 0 &&
      stateIn(meta) === row.STATE_FINISHED &&
      sameVariant(rows, store, oc, other)
    ) {
      found.push(other);
    }
    other = rows.get(other, row.KEY_NEXT);
  }
  return found;
}

function sameVariant(rows: Rows, store: ObjectStore, a: Oc, b: Oc): boolean {
  const varies = rows.get(a, row.META) & row.OF_HAS_VARY;
  if (varies !== (rows.get(b, row.META) & row.OF_HAS_VARY)) return false;
  return varies === 0 || sameStored(store.headChunk(a), store.varyAt(a), store.headChunk(b), store.varyAt(b));
}
