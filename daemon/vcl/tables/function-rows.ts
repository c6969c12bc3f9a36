// The functions of the language itself. The checker binds calls to these signatures; which code runs is in
// check/language-functions.ts.

export interface FunctionRow {
  readonly name: string;
  /** As for an extension's function. Arguments have no names, because calls cannot name them. */
  readonly signature: string;
  /** The call as the manual shows it. */
  readonly syntax: string;
  /** Places as in protocol/tables/variables.ts; absent is everywhere. */
  readonly places?: string;
  /** Not in Varnish's language, so that programs may use the name for their own. */
  readonly ours?: true;
  readonly help: string;
}

function row<const N extends string>(
  name: N,
  signature: string,
  syntax: string,
  help: string,
  facts?: Pick<FunctionRow, 'places' | 'ours'>,
): FunctionRow & { readonly name: N } {
  return { name, signature, syntax, help, ...facts };
}

// biome-ignore format: a row is a line
export const FUNCTIONS = [
  row('regsub', 'STRING regsub(STRING, REGEX, STRING)', 'regsub(text, regex, replacement)',
    'The text with the first match of the regular expression replaced. In the replacement \\0 is the whole match and \\1 to \\9 are its groups; \\\\ is a backslash. Without a match the text is unchanged.'),
  row('regsuball', 'STRING regsuball(STRING, REGEX, STRING)', 'regsuball(text, regex, replacement)', 'As regsub(), with every match replaced.'),
  row('hash_data', 'VOID hash_data(STRING)', 'hash_data(text)',
    'Adds a text to the key of the object. Requests with the same parts in the same order share an object.', { places: 'hash' }),
  row('synthetic', 'VOID synthetic(STRING)', 'synthetic(text)',
    'Adds a text to the body of the response that this state makes, as `set resp.body += …` and `set beresp.body += …` do.', { places: 'synth backend_error' }),
  row('ban', 'VOID ban(STRING)', 'ban(expression)',
    'Invalidates all objects stored so far that match the expression. A wrong expression is logged (VCL_Error), and nothing is banned; std.ban() also returns whether it worked.'),
  row('querysort', 'STRING querysort(STRING)', 'querysort(url)',
    'The URL with the parameters of its query in the order of their bytes, without empty ones. The same as std.querysort(). Not in Varnish.', { ours: true }),
] as const satisfies readonly FunctionRow[];

export type FunctionName = (typeof FUNCTIONS)[number]['name'];
