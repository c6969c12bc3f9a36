// What a program may be called.

/** Why a program cannot be called so; null when it can. */
export function illegalName(name: string): string | null {
  const illegal = /^[A-Za-z]/.test(name) ? /[^A-Za-z0-9_-]/.exec(name)?.[0] : name[0];
  return illegal === undefined && name !== '' ? null : `Illegal character in VCL name (${shown(illegal)})`;
}

/** A character as a message names it; of one beyond ASCII its first byte. */
function shown(c = ''): string {
  return c < '\x7f' ? `'${c}'` : `0x${Buffer.from(c).toString('hex', 0, 1)}`;
}
