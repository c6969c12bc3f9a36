// Named queries: those of the configuration file, and those saved from the console, which go into the same file.

export interface SavedQueries {
  all(): Readonly<Record<string, string>>;
  /** Null removes. Rejects when the file cannot be written; the query is kept for this session then. */
  save(name: string, query: string | null): Promise<void>;
}

/** Queries of this session alone. */
export function volatileQueries(initial: Readonly<Record<string, string>> = {}): SavedQueries {
  let kept: Record<string, string> = { ...initial };
  return {
    all: () => kept,
    save: (name, query) => {
      const { [name]: _former, ...rest } = kept;
      kept = query === null ? rest : { ...rest, [name]: query };
      return Promise.resolve();
    },
  };
}
