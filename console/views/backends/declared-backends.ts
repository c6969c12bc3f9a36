// Addresses and probes of backends as declared in the program, which backend.list does not report. Only `backend` and
// `probe` declarations with literal values are read; backends created at run time are unknown here.

export interface DeclaredBackend {
  /** host:port, or the path of a socket. */
  address: string;
  /** Whether TLS is spoken to it. */
  tls: boolean;
  /** Null without a probe. */
  probe: { asks: string; interval: string; timeout: string } | null;
}

type Fields = Map<string, string | Fields>;

/** All three kinds of strings, words, numbers and punctuation; comments are skipped. */
const TOKEN =
  /(?:\/\/|#)[^\n]*|\/\*[\s\S]*?\*\/|"""([\s\S]*?)"""|\{"([\s\S]*?)"\}|"([^"\n]*)"|([\w.-]+)|([{};=])|\s+|./g;

interface Token {
  text: string;
  /** A word or a string, as opposed to punctuation. */
  value: boolean;
}

/** Keyed by the name in the program. */
export function declaredBackends(sources: readonly string[]): Map<string, DeclaredBackend> {
  const backends = new Map<string, Fields>();
  const probes = new Map<string, Fields>();
  for (const source of sources) {
    const tokens = tokensOf(source);
    for (let at = 0; at < tokens.length; ) {
      const [kind, name, open] = tokens.slice(at, at + 3);
      const into = kind?.text === 'backend' ? backends : kind?.text === 'probe' ? probes : null;
      if (into !== null && name?.value === true && open?.text === '{' && !open.value) {
        const block = fieldsOf(tokens, at + 3);
        into.set(name.text, block.fields);
        at = block.end;
      } else if (kind?.text === '{' && !kind.value) at = fieldsOf(tokens, at + 1).end;
      else at++;
    }
  }
  return new Map([...backends].map(([name, fields]) => [name, declared(fields, probes)]));
}

function tokensOf(source: string): Token[] {
  const tokens: Token[] = [];
  for (const [, long, block, short, word, mark] of source.matchAll(TOKEN)) {
    const value = long ?? block ?? short ?? word;
    if (value !== undefined) tokens.push({ text: value, value: true });
    else if (mark !== undefined) tokens.push({ text: mark, value: false });
  }
  return tokens;
}

/** The fields of a block, and the index of its end. Adjacent strings are lines of one value. */
function fieldsOf(tokens: readonly Token[], from: number): { fields: Fields; end: number } {
  const fields: Fields = new Map();
  const isMark = (token: Token | undefined, text: string): boolean =>
    token?.value === false && token.text === text;
  let at = from;
  while (at < tokens.length && !isMark(tokens[at], '}')) {
    const [name, equals, first] = tokens.slice(at, at + 3);
    if (name?.value === true && name.text.startsWith('.') && isMark(equals, '=')) {
      if (isMark(first, '{')) {
        const block = fieldsOf(tokens, at + 3);
        fields.set(name.text.slice(1), block.fields);
        at = block.end;
        continue;
      }
      const lines: string[] = [];
      for (at += 2; tokens[at]?.value === true; at++) lines.push((tokens[at] as Token).text);
      fields.set(name.text.slice(1), lines.join('\n'));
    } else if (isMark(name, '{')) at = fieldsOf(tokens, at + 1).end;
    else at++;
  }
  return { fields, end: at + 1 };
}

function declared(fields: Fields, probes: ReadonlyMap<string, Fields>): DeclaredBackend {
  const host = textOf(fields, 'host', '');
  const tls = /^(?:1|true)$/i.test(textOf(fields, 'ssl', '0'));
  const port = textOf(fields, 'port', tls ? '443' : '80');
  const address = host === '' ? textOf(fields, 'path', '') : withPort(host, port);
  const named = fields.get('probe');
  const probe = typeof named === 'string' ? probes.get(named) : named;
  if (probe === undefined) return { address, tls, probe: null };
  const request = textOf(probe, 'request', '');
  return {
    address,
    tls,
    probe: {
      asks: request === '' ? `GET ${textOf(probe, 'url', '/')}` : (request.split('\n', 1)[0] as string),
      // Defaults as in vcl-probe(7).
      interval: textOf(probe, 'interval', '5s'),
      timeout: textOf(probe, 'timeout', '2s'),
    },
  };
}

/** The host may contain the port. */
function withPort(host: string, port: string): string {
  if (/^(\[.*\]|[^:]*):\w+$/.test(host)) return host;
  return host.includes(':') && !host.startsWith('[') ? `[${host}]:${port}` : `${host}:${port}`;
}

function textOf(fields: Fields, name: string, otherwise: string): string {
  const value = fields.get(name);
  return typeof value === 'string' ? value : otherwise;
}
