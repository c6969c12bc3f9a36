// The programs of a fleet on one node: reads the bucket for as long as the bus is there, runs here what it says, and changes
// it for operators. A bucket that cannot be read keeps nobody from serving, and invalidations go on.

import { filesOf } from './bundled-files.ts';
import type { Bus } from './bus.ts';
import type { DeskReply, FleetProgramsView, NodeRow, ProgramRow, UseWish } from './fleet-overview.ts';
import type { ProgramFigures } from './node-messages.ts';
import { makeBundle } from './program-bundle.ts';
import { ProgramDesk } from './program-desk.ts';
import { ProgramFollower, type ProgramHost } from './program-follower.ts';

export interface ProgramsParts {
  readonly bus: Bus;
  readonly host: ProgramHost;
  readonly node: string;
  nodes(): NodeRow[];
  /** Milliseconds that an operator waits for nodes. */
  patience(): number;
  tell(level: 'info' | 'warning', text: string): void;
  changed(): void;
}

/** Between two tries to read. */
const AGAIN = 500;

export class FleetPrograms implements FleetProgramsView {
  private readonly parts: ProgramsParts;
  private readonly follower: ProgramFollower;
  private readonly desk: ProgramDesk;
  private reading: { close(): void } | null = null;
  private running = false;
  private closed = false;

  constructor(parts: ProgramsParts) {
    this.parts = parts;
    this.follower = new ProgramFollower(parts);
    this.desk = new ProgramDesk({ ...parts, follower: this.follower });
  }

  /** What is active runs here, or it is known that it cannot. */
  get ready(): Promise<void> {
    return this.follower.ready;
  }

  get figures(): ProgramFigures {
    return this.follower.figures;
  }

  get replaced(): string | null {
    const { own_program, wanted } = this.figures;
    return own_program ? wanted : null;
  }

  /** The bus is there: reads until it is not. */
  async run(): Promise<void> {
    if (this.running) return;
    this.running = true;
    const { bus, tell } = this.parts;
    const isOn = (): boolean => bus.connected && !this.closed;
    let said = '';
    while (isOn()) {
      let why: string;
      try {
        const reading = await bus.readPrograms((all) => {
          said = '';
          this.follower.update(all);
        });
        this.reading = reading;
        why = await reading.ended;
      } catch (cause) {
        why = (cause as Error).message;
        this.absent();
      }
      if (!isOn()) break;
      if (why !== said) tell('warning', `Fleet: its programs cannot be read: ${why}; it is tried again`);
      said = why;
      await new Promise((resolve) => setTimeout(resolve, AGAIN));
    }
    this.running = false;
  }

  /** There is no bus, or no bucket: nobody is to wait for it. */
  absent(): void {
    this.follower.unreadable();
  }

  tick(): void {
    this.follower.tick();
  }

  /** Somebody has changed the programs of this proxy. */
  localChange(): void {
    this.follower.again();
  }

  close(): void {
    this.closed = true;
    this.reading?.close();
    this.absent();
  }

  refusal(name: string): string | null {
    return this.desk.refusal(name);
  }

  load(name: string, compiled: readonly { name: string; text: string }[], path: string): Promise<DeskReply> {
    const { node } = this.parts;
    return this.desk.load(makeBundle(name, path.split(':'), filesOf(compiled), node, Date.now() / 1000));
  }

  use(name: string, wish: UseWish): Promise<DeskReply> {
    return this.desk.use(name, wish);
  }

  discard(name: string): Promise<DeskReply> {
    return this.desk.discard(name);
  }

  list(): ProgramRow[] {
    return this.desk.list();
  }
}
