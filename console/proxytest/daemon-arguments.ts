// Arguments that a script gives its daemon: split as a shell does it, and with real ports where it listens.

import { ScriptError } from './script.ts';
import { addressText, freePort, isPath } from './socket-addresses.ts';

export interface ListenAddress {
  /** As -a names it; a0, a1, … without a name. */
  readonly name: string;
  readonly host: string;
  readonly port: string;
  readonly socket: string;
}

/** Words with quotes and backslashes as in a shell. Throws ScriptError. */
function splitArguments(text: string): string[] {
  const words: string[] = [];
  let word: string | null = null;
  let quote = '';
  for (let i = 0; i < text.length; i++) {
    const c = text[i] as string;
    if (quote === "'" ? c === "'" : quote === '"' && c === '"') quote = '';
    else if (quote === "'") word += c;
    else if (c === '\\' && (quote === '' || /["\\$`\n]/.test(text[i + 1] ?? '')))
      word = (word ?? '') + (text[++i] ?? '');
    else if (quote === '"') word += c;
    else if (c === '"' || c === "'") {
      quote = c;
      word ??= '';
    } else if (/\s/.test(c)) {
      if (word !== null) words.push(word);
      word = null;
    } else word = (word ?? '') + c;
  }
  if (quote !== '') throw new ScriptError(`arguments: missing ${quote} in ${text}`);
  if (word !== null) words.push(word);
  return words;
}

/** Gives the value of -a a real port, and says where the daemon will listen. */
async function listenArgument(text: string, listens: ListenAddress[]): Promise<string> {
  const named = /^([A-Za-z][\w.-]*)=(.*)$/s.exec(text);
  const name = named?.[1] ?? `a${listens.length}`;
  const prefix = named === null ? '' : `${name}=`;
  const [address = '', ...options] = (named?.[2] ?? text).split(',');
  const rest = options.map((option) => `,${option}`).join('');
  if (isPath(address)) {
    listens.push({ name, host: '0.0.0.0', port: '0', socket: address });
    return text;
  }
  const parts = /^(.*?)[: ](\d+)$/.exec(address);
  const host = parts?.[1] ?? address;
  const bare = host.replace(/^\[|\]$/g, '');
  const shown = bare === '' ? '0.0.0.0' : bare;
  let port = parts?.[2] ?? '80';
  if (port === '0') port = String(await freePort(shown));
  listens.push({ name, host: shown, port, socket: addressText(shown, port) });
  return `${prefix}${host}:${port}${rest}`;
}

/** @param extra further arguments as the script wrote them, each a text of words */
export async function daemonArguments(
  extra: readonly string[],
  protocol: string | null,
): Promise<{ args: string[]; listens: ListenAddress[] }> {
  const words = splitArguments(extra.join(' '));
  const listens: ListenAddress[] = [];
  const args: string[] = [];
  const hasOwn = words.some((word) => word.startsWith('-a'));
  if (!hasOwn)
    args.push('-a', await listenArgument(`127.0.0.1:0${protocol === null ? '' : `,${protocol}`}`, listens));
  for (let i = 0; i < words.length; i++) {
    const word = words[i] as string;
    if (word === '-a' && words[i + 1] !== undefined)
      args.push('-a', await listenArgument(words[++i] as string, listens));
    else if (/^-a./.test(word)) args.push(`-a${await listenArgument(word.slice(2), listens)}`);
    else args.push(word);
  }
  return { args, listens };
}

/** Without -p debug=…, which only Varnish has. */
export function withoutDebugging(args: readonly string[]): string[] {
  return args.filter(
    (arg, i) =>
      !/^-pdebug=/.test(arg) &&
      !(arg.startsWith('debug=') && args[i - 1] === '-p') &&
      !(arg === '-p' && args[i + 1]?.startsWith('debug=')),
  );
}
