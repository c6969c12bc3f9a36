// Run by test/system/console-memory.test.ts in a process of its own: this many frames of distinct lines. Prints the heap after a third of
// them and at the end, and the number painted.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { FAKE_START, fakeGroup, fakeRecording } from '../fake-recording.ts';
import { Stage } from '../stage.ts';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void;

async function main(all: number): Promise<void> {
  const stage = new Stage({
    recording: fakeRecording(2),
    columns: 80,
    rows: 24,
    logBounds: { maxBytes: 1 << 20, maxEntries: 500 },
  });
  await stage.play(2);
  await stage.keys('2', 't');
  const before = stage.sink.frames;
  let n = 0;
  const heapAfter = async (frames: number): Promise<number> => {
    for (; n < frames; n++) {
      const url = `/page/${n}/${(n * 7919) % 10_007}`;
      const at = FAKE_START + n;
      stage.session.log.kept.add(
        fakeGroup({ vxid: n, at, method: 'GET', url, status: 200, handling: 'HIT', seconds: 0.001, body: n }),
      );
      stage.session.touch();
      await stage.settle();
    }
    gc();
    return process.memoryUsage().heapUsed;
  };
  const early = await heapAfter(all / 3);
  const late = await heapAfter(all);
  process.stdout.write(JSON.stringify({ early, late, frames: stage.sink.frames - before }));
  stage.close();
}

void main(Number(process.argv[2]));
