#!/usr/bin/env node
// npm run demo: an origin, a proxyd in front of it and an edge network in front of that, or a fleet of proxies, with
// light traffic, an editor who purges, and the console. Without a terminal, one plain line per second. It cleans up
// whichever way it ends.

import { parseArgs } from 'node:util';
import { connect } from '../client/client.ts';
import { findBus } from '../demo/bus-child.ts';
import { newScene, startDrama } from '../demo/drama.ts';
import { startEditor } from '../demo/editor.ts';
import { startOrigin } from '../demo/origin.ts';
import { shopOfFleet, shopWithEdge } from '../demo/shop.ts';
import { stagehand } from '../demo/stagehand.ts';
import { printSummaries } from '../demo/summary.ts';
import { seeded, startTraffic } from '../demo/traffic.ts';
import {
  FIRST_KEYS,
  firstLines,
  lastLines,
  nextSteps,
  plainLines,
  WELCOME_TITLE,
  welcomePanel,
} from '../demo/welcome.ts';
import { HUNG_UP, leave } from '../process/leave.ts';
import { runConsole } from '../tui/main.tsx';

const USAGE = `usage: npm run demo -- [--for SECONDS] [--rate REQUESTS] [--plain] [--fleet PROXIES]
  --for SECONDS    end after this time
  --rate REQUESTS  mean requests a second (60)
  --plain          a plain line a second instead of the console
  --fleet PROXIES  a fleet of 2 to 9 proxies instead of one with an edge network in front; needs nats-server
`;

interface Arguments {
  seconds: number;
  rate: number;
  plain: boolean;
  /** Number of proxies in a fleet; 0: one proxy, with an edge network in front of it. */
  fleet: number;
}

function readArguments(argv: string[]): Arguments | string {
  try {
    const { values } = parseArgs({
      args: argv,
      options: {
        for: { type: 'string' },
        rate: { type: 'string' },
        plain: { type: 'boolean' },
        fleet: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
    if (values.help === true) return '';
    const seconds = values.for === undefined ? 0 : Number(values.for);
    const rate = values.rate === undefined ? 60 : Number(values.rate);
    if (!(seconds >= 0) || !(rate > 0 && rate <= 5000)) return 'the numbers must be positive';
    const fleet = values.fleet === undefined ? 0 : Number(values.fleet);
    if (values.fleet !== undefined && !(Number.isInteger(fleet) && fleet >= 2 && fleet <= 9))
      return 'a fleet has 2 to 9 proxies here';
    const tty = process.stdin.isTTY === true && process.stdout.isTTY === true;
    return { seconds, rate, fleet, plain: values.plain === true || !tty };
  } catch (error) {
    return (error as Error).message;
  }
}

async function main(args: Arguments): Promise<number> {
  const undo: (() => void | Promise<void>)[] = [];
  try {
    // The time limit starts once the demo is up: start-up may take long on a busy machine.
    let endLater = (): void => {};
    // Resolves with the exit status on a signal or at the time limit.
    const over = new Promise<number>((resolve) => {
      for (const [signal, status] of [
        ['SIGINT', 130],
        ['SIGTERM', 143],
        ['SIGHUP', HUNG_UP],
      ] as const) {
        process.on(signal, () => resolve(status));
      }
      process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code === 'EIO' ? HUNG_UP : 0));
      endLater = () => {
        if (args.seconds > 0) setTimeout(() => resolve(0), args.seconds * 1000).unref();
      };
    });
    const random = seeded(20260101);
    const scene = newScene();
    const origin = await startOrigin(random, scene);
    undo.push(() => origin.close());
    const later = (step: () => void | Promise<void>): void => void undo.push(step);
    const shop = await (args.fleet === 0
      ? shopWithEdge(origin.port, later)
      : shopOfFleet(origin.port, args.fleet, later));
    const { daemons, edge } = shop;
    const ports = daemons.map(({ port }) => port);
    process.on('exit', () => {
      for (const daemon of daemons) daemon.killNow();
    });
    const traffic = startTraffic({
      host: '127.0.0.1',
      ports,
      ...(edge === null ? {} : { edgePort: edge.port }),
      random,
      perSecond: args.rate,
      scene,
    });
    undo.push(() => traffic.stop());
    const log = (line: string): void => {
      if (args.plain) process.stdout.write(`${line}\n`);
    };
    const editor = startEditor(ports, log);
    undo.push(() => editor.stop());
    const drama = startDrama(scene, stagehand(shop.daemons[0]), (line) => log(`the shop: ${line}`));
    undo.push(() => drama.stop());
    edge?.onCleared((line) => log(`edge network: ${line}`));
    process.stdout.write(`${firstLines(shop.place)}\n`);
    const died = Promise.race(daemons.map(({ ended }) => ended)).then((text): never => {
      throw new Error(`proxyd ended unexpectedly${text === '' ? '' : `: ${text}`}`);
    });
    died.catch(() => undefined);

    if (args.plain) {
      const client = await connect({ dir: shop.daemons[0].dir, name: 'demo' });
      undo.push(() => client.close());
      process.stdout.write(`${plainLines(shop.place)}\n`);
      let lines = 0;
      printSummaries(client, (line) => {
        if (lines++ === 0) endLater();
        process.stdout.write(`${line}\n`);
      });
      return await Promise.race([over, died]);
    }
    endLater();
    const abort = new AbortController();
    const stop = (): void => abort.abort();
    over.then(stop, stop);
    died.catch(stop);
    const status = await runConsole({
      ...shop.target,
      signal: abort.signal,
      greeting: FIRST_KEYS,
      welcome: { title: WELCOME_TITLE, lines: welcomePanel(args.fleet > 0) },
    });
    await Promise.race([died, Promise.resolve()]);
    return args.seconds > 0 && abort.signal.aborted ? await over : status;
  } finally {
    for (const step of undo.reverse()) await step();
  }
}

const args = readArguments(process.argv.slice(2));
if (typeof args === 'string') {
  process.stderr.write(args === '' ? USAGE : `demo: ${args}\n${USAGE}`);
  process.exit(args === '' ? 0 : 2);
}
main(args)
  .then(
    (status) => {
      // No suggestions after a signal.
      if (status === 0) process.stdout.write(`${lastLines(nextSteps(findBus() !== null))}\n`);
      return status;
    },
    (error: unknown) => {
      process.stderr.write(`demo: ${(error as Error).message}\n`);
      return 1;
    },
  )
  .then(leave);
