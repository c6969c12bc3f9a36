// Lookups held while a node catches up: thousands of them resume over many turns, in which clients leave and objects
// are held again.
import fc from 'fast-check';
import { afterEach, expect, it, vi } from 'vitest';
import { HeldLookups } from '../../../daemon/transaction/held-lookups.ts';
import { turns } from '../../../daemon/turns/turns.ts';

afterEach(() => void vi.restoreAllMocks());

/** This many turns of the event loop. */
async function pass(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise((go) => setImmediate(go));
}

/** Each turn has time for this many. */
function allow(count: number): void {
  let left = count;
  let turn = false;
  vi.spyOn(turns, 'mayContinue').mockImplementation(() => {
    if (!turn) {
      turn = true;
      setImmediate(() => {
        turn = false;
        left = count;
      });
    }
    return --left > 0;
  });
}

it('wakes no more in one turn than there is time for', async () => {
  allow(10);
  const held = new HeldLookups();
  held.hold(1);
  let woken = 0;
  for (let i = 0; i < 1000; i++) held.wait(() => woken++);
  held.letGo();
  expect(woken).toBeLessThanOrEqual(10);
  expect(held.since).toBe(0);
  await vi.waitFor(() => expect(woken).toBe(1000), { timeout: 20_000 });
});

it('wakes everybody once who has not left, whatever happens before their turn', async () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('wait' as const), count: fc.nat(8) }),
    fc.record({ do: fc.constant('leave' as const), who: fc.nat(40) }),
    fc.record({ do: fc.constantFrom('hold' as const, 'let go' as const, 'turn' as const) }),
  );
  allow(2);
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const held = new HeldLookups();
      const leave: (() => void)[] = [];
      const here = new Set<number>();
      const woken: number[] = [];
      /** As a request does: one that is held again waits again. */
      const wait = (who: number): void => {
        leave[who] = held.wait(() => {
          expect(here.has(who)).toBe(true);
          if (held.since > 0) wait(who);
          else {
            woken.push(who);
            here.delete(who);
          }
        });
      };
      for (const each of steps) {
        if (each.do === 'wait') {
          for (let i = 0; held.since > 0 && i < each.count; i++) {
            here.add(leave.length);
            wait(leave.length);
          }
        } else if (each.do === 'leave') {
          leave[each.who]?.();
          here.delete(each.who);
        } else if (each.do === 'hold') held.hold(1);
        else if (each.do === 'let go') held.letGo();
        else await pass(1);
      }
      held.letGo();
      await pass(60);
      expect([...here]).toEqual([]);
      expect(new Set(woken).size).toBe(woken.length);
    }),
  );
});
