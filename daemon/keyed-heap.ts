// A binary heap of items by numeric key, lowest first, with removal of any item in logarithmic time. An item keeps its
// key.

interface Place<T> {
  readonly item: T;
  readonly key: number;
  at: number;
}

export class KeyedHeap<T> {
  readonly #heap: Place<T>[] = [];
  readonly #places = new Map<T, Place<T>>();

  get first(): T | undefined {
    return this.#heap[0]?.item;
  }

  /** The lowest key. */
  get lowest(): number | undefined {
    return this.#heap[0]?.key;
  }

  get size(): number {
    return this.#heap.length;
  }

  /** Has no effect if the item is present. */
  add(item: T, key: number): void {
    if (this.#places.has(item)) return;
    const place = { item, key, at: this.#heap.length };
    this.#places.set(item, place);
    this.#rise(place);
  }

  /** Returns whether the item was present. */
  remove(item: T): boolean {
    const place = this.#places.get(item);
    if (place === undefined) return false;
    this.#places.delete(item);
    const last = this.#heap.pop() as Place<T>;
    if (last === place) return true;
    last.at = place.at;
    if (last.key < place.key) this.#rise(last);
    else this.#sink(last);
    return true;
  }

  #rise(place: Place<T>): void {
    let { at } = place;
    while (at > 0) {
      const above = this.#heap[(at - 1) >> 1] as Place<T>;
      if (above.key <= place.key) break;
      this.#put(above, at);
      at = (at - 1) >> 1;
    }
    this.#put(place, at);
  }

  #sink(place: Place<T>): void {
    const heap = this.#heap;
    let { at } = place;
    for (let below = 2 * at + 1; below < heap.length; below = 2 * at + 1) {
      const right = heap[below + 1];
      if (right !== undefined && right.key < (heap[below] as Place<T>).key) below++;
      const next = heap[below] as Place<T>;
      if (next.key >= place.key) break;
      this.#put(next, at);
      at = below;
    }
    this.#put(place, at);
  }

  #put(place: Place<T>, at: number): void {
    this.#heap[at] = place;
    place.at = at;
  }
}
