// Backends without an origin, for tests of directors: their health, load and last change are what the test says.

import type { Director, VclContext } from '../../../../daemon/contract/context.ts';
import { NOW } from '../../vcl/fake-task.ts';

export class FakeBackend implements Director {
  readonly vclName: string;
  up = true;
  inUse = 0;
  changedAt: number;
  readonly listed: NonNullable<Director['listed']>;

  constructor(name: string, changedAt = NOW - 1000) {
    this.vclName = name;
    this.changedAt = changedAt;
    this.listed = {
      type: 'backend',
      admin: 'auto',
      changedAt,
      measured: () => this.up,
      counts: () => null,
      text: () => [],
      json: () => ['{}'],
    };
  }

  healthy(): boolean {
    return this.up;
  }

  resolve(): Director {
    return this;
  }

  setWarm(): void {}
}

export function backends(count: number): FakeBackend[] {
  return Array.from({ length: count }, (_, i) => new FakeBackend(`b${i + 1}`));
}

/** Names of the backends that `n` fetches in a row go to; '-' for none. */
export function served(director: Director, ctx: VclContext, n: number): string {
  return Array.from({ length: n }, () => director.resolve(ctx)?.vclName ?? '-').join(' ');
}
