// Whether the log has what a row had counted: by the oldest record of the daemon, and by what the console still keeps.
import { describe, expect, it } from 'vitest';
import type { LogHandlers, Source } from '../../../../console/client/source.ts';
import { LogRange } from '../../../../console/model/log/log-range.ts';
import { LogStore } from '../../../../console/model/log/log-store.ts';
import { ReplaySource } from '../../../../console/model/session/replay-source.ts';
import type { LogSubscription } from '../../../../protocol/messages.ts';
import { FAKE_START, fakeGroup, fakeRecording } from '../../fake-recording.ts';

const group = (n: number) =>
  fakeGroup({
    vxid: 1000 + n * 3,
    at: FAKE_START + n,
    method: 'GET',
    url: `/${n}`,
    status: 200,
    handling: 'HIT',
    seconds: 0.001,
    body: 10,
  });

/** A daemon whose log begins with the answers that are given. */
function daemon(canReplay = true) {
  const asked: LogSubscription[] = [];
  let handlers: LogHandlers | null = null;
  let open = 0;
  const source = {
    canReplay,
    log: (sub: LogSubscription, to: LogHandlers) => {
      asked.push(sub);
      handlers = to;
      open++;
      return { close: () => open-- };
    },
  } as unknown as Source;
  return { source, asked, open: () => open, tell: (n: number) => handlers?.batch(group(n)) };
}

const store = (maxEntries = 1000) => new LogStore({ maxBytes: 1 << 24, maxEntries });

describe('the log for a row', () => {
  it('lacks what ended before the oldest record of the daemon, of two the one that has less', () => {
    const { source, asked, tell } = daemon();
    let changes = 0;
    const reach = new LogRange(source, () => changes++);
    reach.begin(FAKE_START + 5, FAKE_START + 100);
    expect(asked).toMatchObject([{ from: 'head', once: true, max: 1 }]);
    // Nothing is shown until it is known.
    expect(reach.shortfall(store())).toBeNull();
    tell(4);
    expect([reach.shortfall(store()), changes]).toEqual([null, 1]);
    tell(60);
    expect(reach.shortfall(store())).toEqual({ counted: FAKE_START + 5, there: FAKE_START + 60 });
  });

  it('lacks records dropped by the console, also before the daemon reports its oldest', () => {
    const { source } = daemon();
    const reach = new LogRange(source, () => undefined);
    reach.begin(FAKE_START + 2, FAKE_START + 100);
    const kept = store(10);
    kept.addGap('a mark');
    for (let n = 0; n < 9; n++) kept.add(group(n));
    expect(reach.shortfall(kept)).toBeNull();
    for (let n = 9; n < 14; n++) kept.add(group(n));
    expect(reach.shortfall(kept)).toEqual({ counted: FAKE_START + 2, there: FAKE_START + 4 });
  });

  it('is asked about where something was counted only, and until something else is shown', () => {
    const { source, asked, open, tell } = daemon();
    const reach = new LogRange(source, () => undefined);
    reach.begin(0, FAKE_START + 100);
    expect(asked).toEqual([]);
    reach.begin(FAKE_START, FAKE_START + 100);
    tell(60);
    expect(reach.shortfall(store())).not.toBeNull();
    reach.begin(0, FAKE_START + 100);
    expect([reach.shortfall(store()), open()]).toEqual([null, 0]);
    reach.begin(FAKE_START, FAKE_START + 100);
    // The former answer was about another period.
    expect(reach.shortfall(store())).toBeNull();
    reach.end();
    expect(open()).toBe(0);
  });

  it('has all of a recording, which reports its oldest as a daemon does', () => {
    const source = new ReplaySource({
      recording: fakeRecording(30),
      matcher: () => () => true,
      canReplay: true,
    });
    source.advance(20);
    const reach = new LogRange(source, () => undefined);
    reach.begin(FAKE_START - 100, FAKE_START + 20);
    expect(reach.shortfall(store())?.there).toBeLessThan(FAKE_START + 2);
    reach.begin(FAKE_START + 2, FAKE_START + 20);
    expect(reach.shortfall(store())).toBeNull();
  });

  it('begins with the first subscription if nothing can be replayed', () => {
    const { source, asked } = daemon(false);
    const reach = new LogRange(source, () => undefined);
    reach.begin(0, FAKE_START + 10);
    reach.begin(FAKE_START + 20, FAKE_START + 30);
    expect(reach.shortfall(store())).toBeNull();
    reach.begin(FAKE_START + 5, FAKE_START + 30);
    expect(reach.shortfall(store())).toEqual({ counted: FAKE_START + 5, there: FAKE_START + 10 });
    expect(asked).toEqual([]);
  });
});
