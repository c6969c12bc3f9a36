// The interface of the store shared by the nodes of a fleet: a bucket of values that are changed by compare-and-set.

export interface SharedEntry {
  readonly revision: number;
  readonly data: Uint8Array;
}

/** `changed`: another change came first. */
export type SharedResult =
  | { readonly state: 'stored'; readonly revision: number }
  | { readonly state: 'changed' }
  | { readonly state: 'refused' | 'unanswered'; readonly detail: string };

export interface FleetStore {
  /** This node's name. */
  readonly node: string;
  /** The bucket's values by key; null while they are unknown. */
  readonly contents: ReadonlyMap<string, SharedEntry> | null;
  /** The other nodes that are there now. */
  others(): readonly string[];
  /** Changes a value whose revision is the given one, 0 for none; null deletes it. */
  store(key: string, data: Uint8Array | null, revision: number): Promise<SharedResult>;
  /** Calls back after each change of the contents. */
  follow(changed: () => void): void;
}
