// Private data of extensions: cells whose life is that of a call's place, a program, a task or a top request.
// A task is a client request with its restarts, or a backend fetch with its retries.
//
// Keys are objects that the extension holds (its own definition, or an object it made), so that two extensions
// never meet. Whoever ends the task calls endPrivs.

export interface Priv {
  value: unknown;
  /** Called once with the value when the cell's life ends. What it throws is lost: nobody is left to fail. */
  end?: (value: unknown) => void;
}

export type PrivMap = Map<object, Priv>;

/** The cell of a key, made when it is not there. */
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

/** Ends every cell, the youngest first, each whatever the others do. */
export function endPrivs(map: PrivMap | null): void {
  if (map === null) return;
  const cells = [...map.values()].reverse();
  map.clear();
  for (const priv of cells) {
    try {
      priv.end?.(priv.value);
    } catch {
      // The task is over, and the other cells still want to end.
    }
  }
}
