// Private data of extensions: cells that live as long as a call site, a program, a task or a top request. A task is a
// client request with its restarts, or a backend fetch with its retries.
//
// Keys are objects of the extension (its definition, or an object it created), so that extensions cannot collide. The
// owner of the task calls endPrivs().

export interface Priv {
  value: unknown;
  /** Called once with the value at the end of the cell's life. Exceptions are ignored: the task is over. */
  end?: (value: unknown) => void;
}

export type PrivMap = Map<object, Priv>;

/** The cell of a key, created if missing. */
export function privCell(map: PrivMap, key: object): Priv {
  let priv = map.get(key);
  if (priv === undefined) {
    priv = { value: undefined };
    map.set(key, priv);
  }
  return priv;
}

/** PRIV_TASK. */
export function taskPriv(ctx: { priv: PrivMap | null }, key: object): Priv {
  ctx.priv ??= new Map();
  return privCell(ctx.priv, key);
}

/** PRIV_TOP: shared by a request and the fragments it includes; null outside client requests. */
export function topPriv(
  ctx: { readonly req: { readonly top: { topPrivs: PrivMap | null } } | null },
  key: object,
): Priv | null {
  if (ctx.req === null) return null;
  ctx.req.top.topPrivs ??= new Map();
  return privCell(ctx.req.top.topPrivs, key);
}

/** PRIV_VCL. */
export function programPriv(ctx: { readonly vcl: { readonly privs: PrivMap } }, key: object): Priv {
  return privCell(ctx.vcl.privs, key);
}

/** Ends every cell, the last created first, regardless of exceptions. */
export function endPrivs(map: PrivMap | null): void {
  if (map === null) return;
  const cells = [...map.values()].reverse();
  map.clear();
  for (const priv of cells) {
    try {
      priv.end?.(priv.value);
    } catch {
      // The task is over, and the remaining cells still have to end.
    }
  }
}
