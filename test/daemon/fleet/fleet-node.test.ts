// A node as a whole: it joins when the bus comes, and again when the bus has let it go for good; who waits for its place is not
// kept waiting by a bus that is absent.
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { BusListener } from '../../../daemon/fleet/bus.ts';
import { FleetNode } from '../../../daemon/fleet/fleet-node.ts';
import { writeState } from '../../../daemon/fleet/node-messages.ts';
import { newFleetCounters } from '../../../daemon/stats/counter-fields.ts';
import { FakeBus } from './fake-bus.ts';

class Bus extends FakeBus {
  readonly listener: BusListener;
  /** Messages on opening, in order; then it opens. */
  refusals: string[];
  opened = 0;

  constructor(listener: BusListener, refusals: string[]) {
    super();
    this.listener = listener;
    this.refusals = refusals;
    this.connected = false;
  }

  override async open(): Promise<void> {
    const refusal = this.refusals.shift();
    if (refusal !== undefined) throw new Error(refusal);
    this.opened++;
    this.connected = true;
    this.listener.connected();
  }
}

const open: FleetNode[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

function node(...refusals: string[]) {
  const log: string[] = [];
  let bus: Bus | null = null;
  const made = new FleetNode(
    'a',
    '1',
    (listener) => {
      bus = new Bus(listener, refusals);
      return bus;
    },
    {
      timeout: () => 1000,
      wait: () => 10,
      catchUp: () => 1000,
      programs: null,
      programTimeout: () => 1000,
      figures: async (address) => ({
        worker: 'running',
        program: 'boot',
        requests: 0,
        hit_rate: null,
        threads: 1,
        address: address ?? '',
        console: null,
        listen: [],
      }),
      log: (level, text) => log.push(`${level} ${text}`),
      cache: {
        since: () => null,
        apply: async () => [],
        kept: null,
        hold: async () => {},
        flush: async () => {},
      },
    },
  );
  open.push(made);
  made.start();
  const counters = (): Record<string, number> => {
    const to = newFleetCounters();
    made.sample(to);
    return to;
  };
  return { made, log, bus: bus as unknown as Bus, counters };
}

describe('a node', () => {
  it('has settled when it knows its place', async () => {
    const { made, counters } = node();
    await made.settled;
    expect(counters()).toMatchObject({ connected: 1, behind: 0, nodes: 1, lag: 0 });
  });

  it('has settled when the bus is absent, reports it once, and joins when it comes', async () => {
    const { made, log, counters } = node('refused', 'refused');
    await made.settled;
    expect(counters()).toMatchObject({ connected: 0, behind: 1 });
    await vi.waitFor(() => expect(counters()).toMatchObject({ connected: 1, behind: 0 }), {
      timeout: 20_000,
    });
    expect(log).toEqual(['warning Fleet: cannot join the bus: refused; retrying', 'info Fleet: joined as a']);
  });

  it('joins again when the bus has let it go for good', async () => {
    const { made, bus, log, counters } = node();
    await made.settled;
    bus.lose();
    bus.listener.disconnected('the connection to the bus was closed');
    expect(counters()).toMatchObject({ connected: 0, behind: 1 });
    bus.listener.closed();
    await vi.waitFor(() => expect(counters()).toMatchObject({ connected: 1, behind: 0 }), {
      timeout: 20_000,
    });
    expect([bus.opened, log.filter((line) => line.startsWith('warning'))]).toEqual([
      2,
      [
        'warning Fleet: the connection to the bus was closed; this node continues to serve, and may lack invalidations',
      ],
    ]);
  });

  it('shows itself among the nodes, and what it has published with how far it has come', async () => {
    const { made, bus } = node();
    await made.settled;
    const event = { kind: 'purge', soft: false, subject: 'x/', origin: 'admin', count: null } as const;
    await made.publish(event);
    bus.results.push({ state: 'refused', detail: 'no', again: false });
    await made.publish(event);
    await vi.waitFor(() => expect(made.nodes()).toMatchObject([{ applied: 1, program: 'boot' }]), {
      timeout: 20_000,
    });
    expect(made.nodes()).toMatchObject([
      { node: 'a', self: true, state: 'current', seen: 0, version: '1', lag: 0, address: '10.0.0.9' },
    ]);
    expect(made.log(9)).toMatchObject([
      { seq: 1, from: 'self', state: 'refused', reach: { applied: 1, nodes: 1, behind: [] } },
      { seq: null, from: 'a', by: 'admin', subject: 'x/', state: 'lost', problem: 'no', reach: null },
    ]);
    bus.lose();
    expect(made.nodes()).toMatchObject([{ state: 'away' }]);
  });

  it('knows the others by their signs of life, and another one of its own name', async () => {
    const { made, bus, log, counters } = node();
    await made.settled;
    const state = writeState({ life: 'x', version: '1', current: true, applied: 0, lag: 0 });
    bus.listener.beat('b', state, 0);
    bus.listener.beat('c', Buffer.from('nonsense'), 0);
    expect(counters().nodes).toBe(2);
    bus.listener.beat('b', null, 0);
    expect(counters().nodes).toBe(1);
    // Its own leftovers are old.
    bus.listener.beat('a', state, 5000);
    expect(log).toHaveLength(1);
    bus.listener.beat('a', state, 0);
    bus.listener.beat('a', state, 0);
    expect(log.slice(1)).toEqual(['warning Fleet: another proxy has the name a, too: name each with --node']);
  });
});
