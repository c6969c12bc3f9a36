// Scripts that run Varnish's tools. Each runs in a plain POSIX shell and ends when its standard input closes: when
// the console is killed or a connection breaks.

/** Seconds that varnishstat searches for its Varnish. */
const FIND_SECONDS = 1;

const named = (name: string): string => (name === '' ? '' : `-n '${name}' `);

/** Answers each line with its output and a line of the mark and the exit status. */
function asking(mark: string, run: string): string {
  return `while IFS= read -r line; do ${run} 2>&1 </dev/null; echo "${mark} $?"; done`;
}

/** A line `V` requests the version, any other a sample. */
export function statScript(name: string, mark: string): string {
  const sample = `varnishstat ${named(name)}-t ${FIND_SECONDS} -j`;
  return asking(mark, `if [ "$line" = V ]; then varnishstat -V; else ${sample}; fi`);
}

/** A line is a command as encoded by encodeLine(). `seconds`: timeout of the answer. */
export function adminScript(name: string, seconds: number, mark: string): string {
  return asking(mark, `varnishadm ${named(name)}-t ${seconds} -- "$(printf '%b' "$line")"`);
}

/** Encoded for printf's %b, on one line. */
export function encodeLine(command: string): string {
  return [...Buffer.from(command)]
    .map((byte) =>
      byte >= 0x20 && byte < 0x7f && byte !== 0x5c
        ? String.fromCharCode(byte)
        : `\\0${byte.toString(8).padStart(3, '0')}`,
    )
    .join('');
}

/** Binary records on standard output, for every release. Before 7.0 there is no -u, `-w -` creates a file of that
 * name, and the magic is missing unless the output is a regular file, so it is written here if there is a Varnish.
 * Standard output must be a pipe to be opened by name; here and with ssh it is a socket. All releases flush at the
 * end of the log. */
function binaryLog(name: string, more = ''): string {
  const found = `varnishstat ${named(name)}-t ${FIND_SECONDS} -1 -f MGT.uptime >/dev/null 2>&1 </dev/null`;
  const old = `out="-w /dev/stdout"; ${found} && printf 'VSL\\0'`;
  const out = `case "$(varnishlog -h 2>&1)" in *"[-u]"*) out="-u -w -";; *) ${old};; esac`;
  return `${out}; varnishlog ${named(name)}-g raw ${more}$out </dev/null`;
}

/** All records from now on. The tool does not notice the end of standard input by itself. */
export function followScript(name: string): string {
  const log = [
    `${binaryLog(name)} & log=$!`,
    '{ while read -r line <&3; do :; done; kill $log; } >/dev/null 2>&1 & watch=$!',
    // Suppresses the shell's message about the terminated process.
    '{ wait $log; } 2>/dev/null; echo $? >&4',
    'kill $watch 2>/dev/null',
  ].join('; ');
  return `exec 3<&0 5>&1; status=$({ { ${log}; } | cat >&5; } 4>&1); exit $status`;
}

/** The log's present contents, from the oldest record on. */
export function pastScript(name: string): string {
  return `{ ${binaryLog(name, '-d ')}; } | cat`;
}
