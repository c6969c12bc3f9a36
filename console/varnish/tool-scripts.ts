// The scripts that run Varnish's tools. Each is for a plain POSIX shell and ends with its standard input: a console that
// is killed, or a connection that breaks, closes it.

/** Seconds that varnishstat looks for its Varnish. */
const FIND_SECONDS = 1;

const named = (name: string): string => (name === '' ? '' : `-n '${name}' `);

/** Answers each line with its output and a line of the mark and the exit status. */
function asking(mark: string, run: string): string {
  return `while IFS= read -r line; do ${run} 2>&1 </dev/null; echo "${mark} $?"; done`;
}

/** A line `V` asks for the version, any other for a sample. */
export function statScript(name: string, mark: string): string {
  const sample = `varnishstat ${named(name)}-t ${FIND_SECONDS} -j`;
  return asking(mark, `if [ "$line" = V ]; then varnishstat -V; else ${sample}; fi`);
}

/** A line is a command as encodeLine() writes it. `seconds`: until it must be answered. */
export function adminScript(name: string, seconds: number, mark: string): string {
  return asking(mark, `varnishadm ${named(name)}-t ${seconds} -- "$(printf '%b' "$line")"`);
}

/** As printf's %b reads it: on one line, whatever is in it. */
export function encodeLine(command: string): string {
  return [...Buffer.from(command)]
    .map((byte) =>
      byte >= 0x20 && byte < 0x7f && byte !== 0x5c
        ? String.fromCharCode(byte)
        : `\\0${byte.toString(8).padStart(3, '0')}`,
    )
    .join('');
}

/** All records from now on. The tool would not notice the end of standard input by itself. */
export function followScript(name: string): string {
  return [
    'exec 3<&0',
    `varnishlog ${named(name)}-g raw -u -w - </dev/null & log=$!`,
    '{ while read -r line <&3; do :; done; kill $log; } >/dev/null 2>&1 & watch=$!',
    'wait $log; status=$?',
    'kill $watch 2>/dev/null',
    'exit $status',
  ].join('; ');
}

/** What the log holds by now, from its oldest record on. */
export function pastScript(name: string): string {
  return `exec varnishlog ${named(name)}-g raw -d -w - </dev/null`;
}
