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

/** Binary records on standard output, for every release. Before 7.0 there is no -u, -w - makes a file of that name, and what is
 * no file gets no magic, which is written here if there is a Varnish; standard output must be a pipe to be opened by its
 * name, and is a socket, here and with ssh. All releases write out what they have when the log has no more. */
function binaryLog(name: string, more = ''): string {
  const found = `varnishstat ${named(name)}-t ${FIND_SECONDS} -1 -f MGT.uptime >/dev/null 2>&1 </dev/null`;
  const old = `out="-w /dev/stdout"; ${found} && printf 'VSL\\0'`;
  const out = `case "$(varnishlog -h 2>&1)" in *"[-u]"*) out="-u -w -";; *) ${old};; esac`;
  return `${out}; varnishlog ${named(name)}-g raw ${more}$out </dev/null`;
}

/** All records from now on. The tool would not notice the end of standard input by itself. */
export function followScript(name: string): string {
  const log = [
    `${binaryLog(name)} & log=$!`,
    '{ while read -r line <&3; do :; done; kill $log; } >/dev/null 2>&1 & watch=$!',
    // Not the shell's word on who was ended from here.
    '{ wait $log; } 2>/dev/null; echo $? >&4',
    'kill $watch 2>/dev/null',
  ].join('; ');
  return `exec 3<&0 5>&1; status=$({ { ${log}; } | cat >&5; } 4>&1); exit $status`;
}

/** What the log holds by now, from its oldest record on. */
export function pastScript(name: string): string {
  return `{ ${binaryLog(name, '-d ')}; } | cat`;
}
