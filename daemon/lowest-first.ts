// A binary heap of numbers, lowest first.

export class LowestFirst {
  private readonly heap: number[] = [];

  /** The lowest; undefined if empty. */
  get first(): number | undefined {
    return this.heap[0];
  }

  push(value: number): void {
    const { heap } = this;
    let at = heap.length;
    for (; at > 0; at = (at - 1) >> 1) {
      const above = heap[(at - 1) >> 1] as number;
      if (above <= value) break;
      heap[at] = above;
    }
    heap[at] = value;
  }

  /** Removes the lowest. */
  pop(): number | undefined {
    const { heap } = this;
    const first = heap[0];
    const last = heap.pop();
    const { length } = heap;
    if (length === 0 || last === undefined) return first;
    let at = 0;
    for (let below = 1; below < length; below = 2 * at + 1) {
      if (below + 1 < length && (heap[below + 1] as number) < (heap[below] as number)) below++;
      const next = heap[below] as number;
      if (next >= last) break;
      heap[at] = next;
      at = below;
    }
    heap[at] = last;
    return first;
  }
}
