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

export const FUNCTIONS = [
  {
    name: 'regsub',
    signature: 'STRING regsub(STRING, REGEX, STRING)',
    syntax: 'regsub(text, regex, replacement)',
    help: 'The text with the first match of the regular expression replaced. In the replacement \\0 is the whole match and \\1 to \\9 are its groups; \\\\ is a backslash. Without a match the text is unchanged.',
  },
  {
    name: 'regsuball',
    signature: 'STRING regsuball(STRING, REGEX, STRING)',
    syntax: 'regsuball(text, regex, replacement)',
    help: 'As regsub(), with every match replaced.',
  },
  {
    name: 'hash_data',
    signature: 'VOID hash_data(STRING)',
    syntax: 'hash_data(text)',
    places: 'hash',
    help: 'Adds a text to the key of the object. Requests with the same parts in the same order share an object.',
  },
  {
    name: 'synthetic',
    signature: 'VOID synthetic(STRING)',
    syntax: 'synthetic(text)',
    places: 'synth backend_error',
    help: 'Adds a text to the body of the response that this state makes, as `set resp.body += …` and `set beresp.body += …` do.',
  },
  {
    name: 'ban',
    signature: 'VOID ban(STRING)',
    syntax: 'ban(expression)',
    help: 'Invalidates all objects stored so far that match the expression. A wrong expression is logged (VCL_Error), and nothing is banned; std.ban() also returns whether it worked.',
  },
  {
    name: 'querysort',
    signature: 'STRING querysort(STRING)',
    syntax: 'querysort(url)',
    ours: true,
    help: 'The URL with the parameters of its query in the order of their bytes, without empty ones. The same as std.querysort(). Not in Varnish.',
  },
] as const satisfies readonly FunctionRow[];

export type FunctionName = (typeof FUNCTIONS)[number]['name'];
