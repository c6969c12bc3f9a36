// The longest turn of an event loop in the last minute: its duration is a counter, and its work is requested when that
// has changed. Without a matching answer only the duration is shown.

import type { CommandReply } from '../../../protocol/messages.ts';
import { answerItems, textField } from './admin-store.ts';
import { record } from './backends.ts';

const TURNS_ASKED = 'turn.list -j';

export interface LongestTurn {
  readonly seconds: number;
  /** Empty while unknown. */
  readonly work: string;
}

export class LongestTurnPoll {
  readonly #ask: (line: string) => Promise<CommandReply>;
  readonly #changed: () => void;
  #micros = 0;
  #work = '';
  #asking = false;

  constructor(ask: (line: string) => Promise<CommandReply>, changed: () => void) {
    this.#ask = ask;
    this.#changed = changed;
  }

  /** @param micros the counter, 0 without one */
  async tick(micros: number): Promise<void> {
    if (micros === this.#micros || this.#asking) return;
    this.#micros = micros;
    this.#work = '';
    if (micros === 0) return;
    this.#asking = true;
    const { status, body } = await this.#ask(TURNS_ASKED);
    this.#asking = false;
    if (status === 200) this.#work = workOf(body, micros / 1000);
    this.#changed();
  }

  get(): LongestTurn | null {
    return this.#micros === 0 ? null : { seconds: this.#micros / 1e6, work: this.#work };
  }
}

/** The work of the turn that lasted `millis`; the list has those of the manager as well. */
function workOf(body: string, millis: number): string {
  const items = answerItems(body).map(record);
  const same = items.find((item) => Math.abs(Number(item.milliseconds) - millis) <= 1);
  return same === undefined ? '' : textField(same, 'work');
}
