// Keys whose bodies, of unknown length, have outgrown their storage on this thread: the clients who got the first of them were cut
// there, and later ones are to get theirs whole.

/** Keys that are remembered (chosen). */
const MOST = 1000;

export class OutgrownKeys {
  private readonly keys = new Set<string>();

  has(key: string): boolean {
    return this.keys.has(key);
  }

  /** @param isTooLarge whether its last body was larger than its storage */
  note(key: string, isTooLarge: boolean): void {
    if (!isTooLarge) {
      this.keys.delete(key);
      return;
    }
    if (this.keys.size >= MOST) this.keys.clear();
    this.keys.add(key);
  }
}
