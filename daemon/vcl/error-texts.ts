// The compiler's error messages: one row each, with a slug for tests and tools. Parser and checker name a row and
// pass its arguments; hints are in hints.ts, and the lint rules have texts of their own.

export interface Message {
  /** Stable slug of the kind of mistake. */
  readonly code: string;
  readonly text: string;
}

function say(code: string, text: string): Message {
  return { code, text };
}

export const MESSAGES = {
  // Texts: characters, strings, numbers.
  unterminatedComment: () => say('unterminated-comment', 'Unterminated /* ... */ comment, starting at'),
  nestedComment: () => say('nested-comment', '/* ... */ comments cannot be nested'),
  inlineC: () => say('inline-c', 'Inline-C not allowed'),
  unterminatedLongString: () => say('unterminated-string', 'Unterminated long-string, starting at'),
  unterminatedString: () => say('unterminated-string', 'Unterminated string, starting at'),
  nul: () => say('nul', 'A program cannot hold the NUL character'),
  badCharacter: (shown: string) => say('bad-character', `Syntax error at character ${shown}`),
  blobColon: () => say('blob', 'Missing colon at end of BLOB:'),
  blobCharacter: () => say('blob', 'Illegal BLOB character:'),
  blobLength: () => say('blob', 'BLOB must have n*4 base64 characters'),
  blobPadding: () => say('blob', "Wrong padding ('=') in BLOB:"),
  blobBits: () => say('blob', 'The last character of the BLOB has bits that belong to no byte:'),
  tooManyDigits: (kind: 'real' | 'integer') => say('number', `Too many digits for ${kind}.`),
  bytesUnit: (unit: string) => say('unit', `Unknown BYTES unit '${unit}'`),
  partOfByte: () => say('unit', 'A part of a byte does not exist'),
  durationUnit: (unit: string) => say('unit', `Unknown duration unit '${unit}'`),
  bytesWithoutUnit: () => say('unit', 'A number of BYTES needs a unit'),
  regex: (why: string) => say('regex', `Regexp compilation error: ${why}`),

  // Syntax.
  expected: (what: string, got: string) => say('syntax', `Expected ${what} got ${got}`),
  argumentAfterComma: () => say('syntax', 'Expected an argument after the comma'),
  endInBlock: () => say('syntax', "End of input while looking for '}'"),
  noStatement: () => say('syntax', "Expected an action, 'if', '{' or '}'"),
  notHere: (word: string) => say('syntax', `Symbol cannot be used here: '${word}'`),
  unusedResult: () => say('syntax', 'Symbol cannot be used here: its result is not used'),
  noConstructor: () => say('syntax', 'Expected the constructor of an object'),
  notCallable: () => say('syntax', 'This cannot be called'),
  functionWithoutCall: (name: string) => say('syntax', `Function '${name}' must be called with (...)`),
  semicolonAfterField: () => say('syntax', "Expected ';'"),
  noDeclaration: (found: string) =>
    say(
      'syntax',
      `Expected one of 'acl', 'sub', 'backend', 'probe', 'import', 'include', 'unused' or 'vcl', found: '${found}'`,
    ),
  deepExpression: () => say('nesting', 'Expression nested too deeply'),
  longExpression: () => say('nesting', 'Expression too long'),
  deepBlocks: () => say('nesting', 'Blocks nested too deeply'),
  dotInName: (name: string) => say('name', `Name of subroutine, '${name}', contains illegal character '.'`),

  // Versions and files.
  noVersion: () => say('no-version', 'VCL version declaration missing'),
  unknownVersion: (version: string) => say('version', `VCL version ${version} not supported.`),
  higherVersion: (version: string, top: number) =>
    say('version', `VCL version ${version} higher than the top level version 4.${top}`),
  quotedField: () => say('version', 'Names of header fields in quotes need VCL 4.1.'),
  otherVersion: (name: string, bound: string) =>
    say('version', `Symbol not found: '${name}' (Only available when VCL syntax ${bound})`),
  includeFlag: () => say('include', 'Expected a flag at:'),
  unknownIncludeFlag: (flag: string) => say('include', `Unknown include flag: '${flag}'`),
  includeWithoutPath: () => say('include', 'include not followed by string constant.'),
  includeWithoutSemicolon: () => say('include', 'include <string> not followed by semicolon.'),
  looseGlob: () => say('include', "The path of +glob must begin with '/' or './'"),
  emptyGlob: () => say('include', 'glob pattern matched no files.'),
  unreadable: (name: string, why: string) => say('include', `Cannot read file '${name}' (${why})`),
  tooManyFiles: () => say('include', 'Too many files included'),
  includeLoop: (name: string) => say('include-loop', `File '${name}' includes itself`),
  unsafeFile: (name: string) => say('unsafe', `VCL filename '${name}' is unsafe.`),
  unsafeImport: () => say('unsafe', "'import ... from path ...' is unsafe."),
  importProblem: (problem: string) => say('import', problem),
  noExtension: (name: string) => say('import', `Could not find VMOD ${name}`),

  // Names.
  notFound: (name: string) => say('undefined', `Symbol not found: '${name}'`),
  undefinedKind: (kind: string, name: string) => say('undefined', `Undefined ${kind} '${name}'`),
  noDefaultProbe: () => say('undefined', 'No default probe defined'),
  noProbeName: () => say('undefined', "Expected '{' or name of probe"),
  taken: (name: string) => say('reserved', `Name '${name}' is taken by the language.`),
  reservedNames: () => say('reserved', "Symbols named 'vcl_*' are reserved."),
  reservedSubs: () => say('reserved', "The names 'vcl_*' are reserved for subroutines."),
  reservedDefault: () => say('reserved', "Symbol 'default' is a reserved word."),
  moduleConflict: (name: string) => say('redefined', `Module ${name} conflicts with other symbol.`),
  otherKind: (name: string, kind: string, wanted: string) =>
    say('redefined', `Symbol '${name}' has wrong type (${kind}), expected ${wanted}`),
  otherModule: (name: string) => say('redefined', `Another module already imported as ${name}.`),
  otherModuleFile: (name: string) =>
    say('redefined', `Module ${name} was imported from another file before.`),
  builtInModule: (name: string) =>
    say('redefined', `Module ${name} was imported before, the one that is built in.`),
  objectTwice: (name: string) => say('redefined', `Object name '${name}' already used.`),
  subTwice: (name: string) => say('redefined', `Subroutine '${name}' redefined`),
  fieldTwice: (name: string) => say('redefined', `Field '${name}' redefined`),
  declaredTwice: (kind: string, name: string) => say('redefined', `${kind} '${name}' redefined.`),
  unused: (kind: string, name: string) => say('unused', `Unused ${kind} ${name}, defined:`),
  noBackend: () =>
    say('no-backend', 'No backends or directors found in VCL program, at least one is necessary.'),

  // Types and values.
  wrongType: (type: string, wanted: string) => say('type', `Expression has type ${type}, expected ${wanted}`),
  wrongKindHere: (name: string, kind: string) =>
    say('type', `Symbol '${name}' has wrong type (${kind}) here`),
  noSub: (name: string, kind: string) =>
    say('type', `Symbol '${name}' has wrong type (${kind}), expected sub`),
  onlyAsSub: (name: string) => say('type', `Symbol '${name}' can only be used as a SUB expression`),
  noText: (type: string) => say('type', `Cannot convert ${type} to STRING.`),
  noSign: (type: string) =>
    say('type', `${type === 'VOID' ? 'Unknown token' : `A ${type} cannot begin with`} '-'`),
  noNegative: (type: string) => say('type', `Operator - not possible on ${type}`),
  moduloOfInt: () => say('type', 'Operator % only possible on INT.'),
  noArithmetic: (left: string, op: string, right: string) =>
    say('type', `${left} ${op} ${right} not possible.`),
  noOperator: (op: string, type: string) => say('type', `Operator '${op}' not possible on ${type}`),
  differentTypes: (left: string, op: string, right: string) =>
    say('type', `Comparison of different types: ${left} '${op}' ${right}`),
  voidValue: () => say('type', 'Function returns VOID:'),
  noProperty: (name: string, type: string) => say('property', `Unknown property '${name}' for type ${type}`),
  noAssignment: (op: string, type: string) => say('assign', `Operator ${op} not possible on ${type}`),
  divisionByZero: () => say('division', 'Division by zero'),
  divisionFails: () => say('division', 'Division by zero fails at run time'),
  noAddress: (text: string) => say('address', `'${text}' could not be resolved to an IP address`),

  // Arguments.
  noArguments: () => say('argument', "Expected ')'"),
  positionalAfterNamed: () => say('argument', 'Argument without a name after one with a name'),
  tooManyArguments: (name: string, takes: number) =>
    say('argument', `Too many arguments: '${name}' takes ${takes}`),
  unknownArgument: (name: string) => say('argument', `Unknown argument '${name}'`),
  argumentTwice: (name: string | null) => say('argument', `Argument '${name}' already used`),
  missingArgument: (name: string | number) => say('argument', `Argument '${name}' missing`),
  wrongEnum: (values: readonly string[]) =>
    say('enum', `Wrong enum value. Expected one of: ${values.join(', ')}`),

  // Variables and states.
  noDirection: (name: string, what: string) => say('direction', `Variable '${name}' cannot be ${what}.`),
  noFieldName: (name: string) => say('header', `'${name}' is not a valid header name`),
  longFieldName: (start: string) => say('header', `HTTP header (${start}..) is too long.`),
  notInState: (name: string, verb: string, sub: string) =>
    say('place', `'${name}': ${verb} subroutine '${sub}'.`),
  notOffered: (name: string) => say('place', `'${name}' is not available here.`),
  notOfState: (sub: string) => say('place', `Not available in subroutine '${sub}'.`),
  invalidReturn: (action: string, sub: string) => say('return', `Invalid return "${action}" in '${sub}'`),
  bareReturn: (name: string) => say('return', `Subroutine '${name}' must return an action`),
  noAction: (name: string) => say('return', `Expected return action name, not '${name}'`),
  actionTakesNothing: (name: string) => say('return', `Arguments not allowed: return (${name})`),
  noLabel: () => say('return', 'Missing argument: return (vcl(label))'),
  tooMuchWork: (called: string, most: number, name: string) =>
    say('work', `Calls of '${called}' add up to more than ${most} statements in one run of '${name}'`),
  recursion: (name: string) => say('recursion', `Subroutine '${name}' recurses`),
  impossibleSub: (name: string) =>
    say('impossible-sub', `Impossible subroutine '${name}': no state has all that it uses`),
  deepCalls: (most: number, name: string) =>
    say('nesting', `Calls go deeper than ${most} levels in '${name}'`),

  // Backends and probes.
  hostAndPath: () => say('backend', 'Address redefinition: .host and .path exclude each other'),
  noHost: (name: string) => say('backend', `Expected .host or .path in backend '${name}'.`),
  twoPorts: (host: string) => say('backend', `Backend host '${host}' names a port, and .port another`),
  unknownPort: (port: string) => say('backend', `Backend port '${port}' could not be resolved`),
  portRange: (port: string | undefined) => say('backend', `Backend port '${port}' is out of range`),
  unknownHost: (host: string) =>
    say('backend', `Backend host '${host}' could not be resolved to an IP address`),
  manyAddresses: (host: string, found: readonly string[]) =>
    say('backend', `Backend host '${host}' has more than one address of a kind: ${found.join(', ')}`),
  pathVersion: () => say('backend', 'Backends with a .path need VCL 4.1 or higher'),
  noSocket: () => say('backend', 'Backend path: Not a socket:'),
  unknownPath: (why: string) => say('backend', `Backend path: Cannot stat: ${why}`),
  viaAndPath: () => say('backend', 'Cannot set both .via and .path.'),
  viaStacked: () => say('backend', 'Cannot stack .via backends'),
  viaTls: (name: string) =>
    say('backend', `TLS within TLS: .ssl of this backend and of '${name}' exclude each other`),
  viaName: () => say('backend', 'Field .via takes the name of a backend'),
  authorityAddress: (field: string) => {
    const origin = field === 'authority' ? '' : ' used as authority';
    return say('backend', `.${field}${origin} can not be an ip address with .via.`);
  },
  authorityLength: () => say('backend', '.authority is longer than 255 characters'),
  sslAndPath: () => say('backend', 'TLS is spoken over TCP: .ssl and .path exclude each other'),
  sslAttribute: (name: string) => say('backend', `'.${name}' without '.ssl = 1' has no effect`),
  sslContradiction: (one: string, other: string) => say('backend', `'.${one}' contradicts '.${other}'`),
  sslName: (name: string) => say('backend', `'${name}' is neither a host name nor an address`),
  sslKeyAlone: () => say('backend', "'.ssl_key' needs '.ssl_cert', the certificate of the key"),
  sslUnusedCa: () =>
    say('backend', "'.ssl_ca' has no effect: the certificate of the backend is not verified"),
  sslFile: (name: string, why: string) => say('backend', `Cannot use ${name}: ${why}`),
  sslCertEnded: (name: string, date: string) =>
    say('backend', `The certificate in ${name} was valid until ${date}`),
  urlAndRequest: () => say('probe', 'Probe request redefinition: .url and .request exclude each other'),
  windowAlone: () => say('probe', 'Must specify .threshold with .window'),
  windowTooLarge: () => say('probe', 'Window must be 64 or less.'),
  windowTooSmall: () => say('probe', 'Window must be 1 or more.'),
  thresholdTooLarge: () => say('probe', 'Threshold must be 64 or less.'),
  thresholdBeyondWindow: () => say('probe', 'Threshold can not be greater than window.'),
  unknownField: (name: string) => say('field', `Unknown field: '${name}'`),
  fieldProblem: (problem: string) => say('field', problem),
  fieldWithoutBlock: (name: string) => say('field', `Field '${name}' takes a value, not a block`),
  negativeField: (name: string) => say('field', `Field '${name}' cannot be negative`),
  fieldText: () => say('type', 'Expected a string'),
  fieldTakes: (name: string, what: string) => say('type', `Field '${name}' takes ${what}`),

  // Acls.
  aclFlag: () => say('acl', 'Expected a flag at:'),
  unknownAclFlag: (flag: string) => say('acl', `Unknown ACL flag: '${flag}'`),
  aclSubFlag: (flag: string, sub: string) => say('acl', `Unknown flag of ${flag}: '${sub}'`),
  aclReport: () => say('acl', "'report' needs +fold"),
  aclContained: (shown: string, by: string) => say('acl', `${shown} is left out: it is part of ${by}`),
  aclHalves: (low: string, high: string, bits: number) =>
    say('acl', `${low} and ${high} are folded into one of /${bits}`),
  aclMoreFolds: (count: number) => say('acl', `${count} more entries are folded`),
  aclEntry: (fault: string) => say('acl', fault),
  aclHost: (host: string) => say('acl', `DNS lookup(${host}): name not known`),
  aclFamilies: (host: string) =>
    say('acl', `'${host}' has IPv4 and IPv6 addresses: a mask fits only one of them`),
  aclConflict: () => say('acl', 'Conflicting ACL entries:'),
  aclMask: (bits: number, family: string) => say('acl', `Too wide mask (/${bits}) for ${family} address`),
  aclBits: (proper: string, bits: number) =>
    say('acl', `Non-zero bits in masked part, (maybe use ${proper}/${bits} ?)`),
} as const satisfies Readonly<Record<string, (...args: never[]) => Message>>;
