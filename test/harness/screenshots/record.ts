// Records a session with a real daemon for the screenshots: the demo's origin, proxyd, edge network, editor and traffic,
// the counters of two minutes, an even sample of the log, and the answers to some commands.

import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { LiveSource } from '../../../console/client/live-source.ts';
import { demoProgram, edgePart } from '../../../console/demo/demo-program.ts';
import { newScene, startDrama } from '../../../console/demo/drama.ts';
import { startEditor } from '../../../console/demo/editor.ts';
import { startOrigin } from '../../../console/demo/origin.ts';
import { shopWithEdge } from '../../../console/demo/shop.ts';
import { stagehand } from '../../../console/demo/stagehand.ts';
import { seeded, startTraffic } from '../../../console/demo/traffic.ts';
import {
  encodeTransaction,
  type RecordedStep,
  type Recording,
} from '../../../console/model/session/recording.ts';
import { inlineCommand } from '../../../console/model/ui/undo.ts';
import type { LogTransaction } from '../../../protocol/messages.ts';

const SECONDS = 130;
/** One group of the log in this many is recorded, whatever it is: shares and rankings are those of the demo. */
const ONE_IN = 16;

/** Answers kept, as they are when most pictures are taken. */
const ANSWERED_AT = 116.9;
const COMMANDS = [
  'backend.list -j',
  'backend.list -j -p',
  'vcl.list',
  'vcl.list -j',
  'vcl.deps -j',
  'vcl.show -v boot',
  'vcl.show -v faster',
  'param.show -j',
  'param.show default_ttl',
  'event.list -j',
  'help',
  'storage.list',
  'storage.list -j',
  'ban.list',
  'ban.list -j',
  'ban.count obj.http.xkey ~ shelf-3',
  'panic.show',
  'edge.status -j',
  'edge.queue -j',
  'edge.dead -j',
];

export const RECORDING = new URL('./recording.json.gz', import.meta.url);

export async function record(): Promise<void> {
  const random = seeded(7);
  const scene = newScene();
  const origin = await startOrigin(random, scene);
  const undo: (() => void | Promise<void>)[] = [];
  const { daemons, edge } = await shopWithEdge(origin.port, (step) => void undo.push(step));
  const [daemon] = daemons;
  if (edge === null) throw new Error('the shop has no edge network');
  const ports = [daemon.port];
  const traffic = startTraffic({
    host: '127.0.0.1',
    ports,
    edgePort: edge.port,
    random,
    perSecond: 140,
    scene,
  });
  const editor = startEditor(ports, () => undefined);
  const drama = startDrama(scene, stagehand(daemon), () => undefined);
  const steps: RecordedStep[] = [];
  const start = Date.now() / 1000;
  const after = (): number => Math.round((Date.now() / 1000 - start) * 1000) / 1000;
  let values: bigint[] = [];
  let counted = (): void => undefined;
  const source = new LiveSource({ dir: daemon.dir, name: 'recorder' });
  source.start({
    connection: (state) => {
      if (state.state === 'up')
        steps.push({ after: after(), kind: 'up', identity: state.identity, version: state.version });
    },
    counters: (info) => {
      values = info.map(() => 0n);
      steps.push({ after: after(), kind: 'counters', info });
    },
    values: (_at, now) => {
      const changed = now.flatMap((v, i): [number, string][] => (v === values[i] ? [] : [[i, String(v)]]));
      values = now;
      counted();
      steps.push({ after: after(), kind: 'values', changed });
    },
    past: () => undefined,
    event: (event, text, noted) => {
      const step = { after: after(), kind: 'event', event, text } as const;
      steps.push(noted === undefined ? step : { ...step, noted });
    },
  });
  await new Promise((resolve) => setTimeout(resolve, 1000));
  // Something to see in every view: a second program, changed parameters, bans.
  const faster = demoProgram(origin.port, edgePart(`127.0.0.1:${edge.port}`))
    .replace('beresp.grace = 10s', 'beresp.grace = 1h')
    .replace('5s;', '2s;');
  for (const line of [
    inlineCommand('faster', faster),
    'param.set default_grace 30',
    'param.set default_ttl 300',
    'ban req.url ~ ^/old/',
    'ban obj.http.xkey ~ shelf-7',
  ])
    await source.command(line);
  let seen = 0;
  source.log(
    { grouping: 'request', from: 'tail' },
    {
      batch: (transactions) => {
        for (const group of groupsOf(transactions)) {
          if (seen++ % ONE_IN !== 0) continue;
          steps.push({ after: after(), kind: 'log', transactions: group.map(encodeTransaction) });
        }
      },
      lost: () => undefined,
      failed: (message) => process.stderr.write(`log: ${message}\n`),
    },
  );
  const until = (seconds: number): Promise<void> =>
    new Promise((resolve) => setTimeout(resolve, (seconds - after()) * 1000));
  await until(ANSWERED_AT);
  // Answers and counters of one moment.
  await new Promise<void>((resolve) => {
    counted = resolve;
  });
  const commands: Recording['commands'] = {};
  for (const line of COMMANDS) commands[line] = await source.command(line);
  await until(SECONDS);
  source.close();
  drama.stop();
  editor.stop();
  traffic.stop();
  for (const step of undo.reverse()) await step();
  origin.close();
  const recording: Recording = { format: 'proxyd-console-recording/1', start, steps, commands };
  writeFileSync(RECORDING, gzipSync(JSON.stringify(recording), { level: 9 }));
  process.stdout.write(`${steps.length} steps recorded\n`);
}

function groupsOf(transactions: readonly LogTransaction[]): LogTransaction[][] {
  const groups: LogTransaction[][] = [];
  for (const tx of transactions) {
    if (tx.level <= 1 || groups.length === 0) groups.push([]);
    groups.at(-1)?.push(tx);
  }
  return groups;
}
