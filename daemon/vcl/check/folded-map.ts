// A map whose keys are names of VCL, which are not case-sensitive:
// `call Helper` finds `sub helper`. Iteration gives each name as it was first written.

export class FoldedMap<V> {
  readonly #entries = new Map<string, [name: string, value: V]>();

  get(name: string): V | undefined {
    return this.#entries.get(name.toLowerCase())?.[1];
  }

  has(name: string): boolean {
    return this.#entries.has(name.toLowerCase());
  }

  /** How a name was first written; the name itself when it is not there. */
  nameOf(name: string): string {
    return this.#entries.get(name.toLowerCase())?.[0] ?? name;
  }

  set(name: string, value: V): void {
    const key = name.toLowerCase();
    const known = this.#entries.get(key);
    if (known === undefined) this.#entries.set(key, [name, value]);
    else known[1] = value;
  }

  values(): V[] {
    return Array.from(this.#entries.values(), (e) => e[1]);
  }

  keys(): string[] {
    return Array.from(this.#entries.values(), (e) => e[0]);
  }

  [Symbol.iterator](): IterableIterator<[string, V]> {
    return this.#entries.values();
  }
}
