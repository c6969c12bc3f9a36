// Command-line options as getopt(3) reads them, in order: -abc is -a -b -c, -nDIR is -n DIR, `--` ends them.
// Long options are only the ones named; nothing is abbreviated. It prints nothing.

export interface Options {
  /** [letter or long name, argument or ''] in order. */
  options: [string, string][];
  rest: string[];
}

/** `letters` as getopt's optstring; `long` names without dashes, with a colon when they take an argument. A string is what is wrong. */
export function getopt(
  argv: readonly string[],
  letters: string,
  long: readonly string[] = [],
): Options | string {
  const options: [string, string][] = [];
  let i = 0;
  for (; i < argv.length; i++) {
    const arg = argv[i] as string;
    if (arg === '--') {
      i++;
      break;
    }
    if (arg === '-' || !arg.startsWith('-')) break;
    if (arg.startsWith('--')) {
      const [name = '', given] = arg.slice(2).split(/=(.*)/s, 2);
      if (long.includes(`${name}:`)) {
        const value = given ?? argv[++i];
        if (value === undefined) return `option requires an argument -- '${name}'`;
        options.push([name, value]);
        continue;
      }
      if (!long.includes(name) || given !== undefined) return "invalid option -- '-'";
      options.push([name, '']);
      continue;
    }
    for (let k = 1; k < arg.length; k++) {
      const c = arg[k] as string;
      const at = c === ':' ? -1 : letters.indexOf(c);
      if (at < 0) return `invalid option -- '${c}'`;
      if (letters[at + 1] !== ':') {
        options.push([c, '']);
        continue;
      }
      const value = k + 1 < arg.length ? arg.slice(k + 1) : argv[++i];
      if (value === undefined) return `option requires an argument -- '${c}'`;
      options.push([c, value]);
      break;
    }
  }
  return { options, rest: argv.slice(i) };
}
