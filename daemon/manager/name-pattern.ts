// Shell patterns over names (*, ?, [...]), as vcl.discard and other commands take them.

/** A pattern as an anchored regular expression; every other character stands for itself. */
export function globToRegExp(pattern: string): RegExp {
  let out = '';
  for (let i = 0; i < pattern.length; i++) {
    const c = pattern[i] as string;
    if (c === '*') out += '.*';
    else if (c === '?') out += '.';
    else if (c === '[') {
      const end = pattern.indexOf(']', i + 2);
      if (end < 0) {
        out += '\\[';
        continue;
      }
      const body = pattern
        .slice(i + 1, end)
        .replace(/^[!^]/, '^')
        .replaceAll('\\', '\\\\');
      out += `[${body}]`;
      i = end;
    } else if (c === '\\' && i + 1 < pattern.length) out += escapeChar(pattern[++i] as string);
    else out += escapeChar(c);
  }
  try {
    return new RegExp(`^${out}$`, 's');
  } catch {
    // A reversed range inside brackets: the pattern stands for itself.
    return new RegExp(`^${[...pattern].map(escapeChar).join('')}$`, 's');
  }
}

function escapeChar(c: string): string {
  return /[\\^$.*+?()[\]{}|/-]/.test(c) ? `\\${c}` : c;
}

/** Why a program cannot be called so; null when it can. */
export function illegalName(name: string): string | null {
  const illegal = /^[A-Za-z]/.test(name) ? /[^A-Za-z0-9_-]/.exec(name)?.[0] : name[0];
  return illegal === undefined && name !== '' ? null : `Illegal character in VCL name (${shown(illegal)})`;
}

/** A character as a message names it; of one beyond ASCII its first byte. */
function shown(c = ''): string {
  return c < '\x7f' ? `'${c}'` : `0x${Buffer.from(c).toString('hex', 0, 1)}`;
}
