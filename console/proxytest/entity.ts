// Something that the script names and gives orders to: a client, a server, a daemon and their like.

import { Actor, type Stage } from './actor.ts';
import type { Words } from './script.ts';

export abstract class Entity extends Actor {
  constructor(stage: Stage, name: string) {
    super(stage, name);
  }

  /** A macro of its own: ${NAME_what}. */
  define(what: string, value: string): void {
    this.stage.macros.define(`${this.who}_${what}`, value);
    this.log(4, `macro def ${this.who}_${what}=${value}`);
  }

  forget(what: string): void {
    this.stage.macros.remove(`${this.who}_${what}`);
  }

  /** Carries out what follows its name in the script. */
  abstract command(words: Words): Promise<void>;

  /**
   * The test ends.
   * @param isGood nothing has failed so far: what must have happened by now is checked
   */
  abstract end(isGood: boolean): Promise<void>;
}
