// Where proxylog's transactions come from, as its main program sees it: it has an end, and a signal can ask it
// for what is incomplete.

export interface LogSource {
  /** Resolves with the exit status. */
  done: Promise<number>;
  /** Shows what is incomplete. */
  flush(): void;
}
