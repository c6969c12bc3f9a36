// Which Varnish is meant: one of this host by its name as -n gives it, or one of another host over ssh. Both become words
// of command lines, here and on the other host; therefore what is not plainly a name is refused, and nothing is quoted
// away.

export interface VarnishTarget {
  /** Of the other host, as ssh takes it; '' is this host. */
  host: string;
  /** Of ssh; '' is its own choice. */
  port: string;
  /** As -n gives it; '' is Varnish's default. */
  name: string;
}

const SCHEME = 'ssh://';
const NAME = /^[A-Za-z0-9_./][A-Za-z0-9_./+@:-]*$/;
/** A name or an address, with the user before it if need be. */
const HOST = /^(?:[A-Za-z0-9_][A-Za-z0-9_.-]*@)?(?:[A-Za-z0-9_][A-Za-z0-9_.-]*|\[[0-9A-Fa-f:.]+\])$/;

/** NAME or ssh://host[:port][/NAME]. Throws a plain sentence. */
export function parseVarnishTarget(text: string): VarnishTarget {
  if (!text.startsWith(SCHEME)) return { host: '', port: '', name: checkedName(text) };
  const rest = text.slice(SCHEME.length);
  const slash = rest.indexOf('/');
  const place = slash < 0 ? rest : rest.slice(0, slash);
  const port = /:(\d{1,5})$/.exec(place);
  const host = port === null ? place : place.slice(0, port.index);
  if (!HOST.test(host)) throw new Error(`"${host}" is no name of a host: ssh://[user@]host[:port][/NAME]`);
  return {
    host: host.replace(/[[\]]/g, ''),
    port: port?.[1] ?? '',
    name: checkedName(slash < 0 ? '' : rest.slice(slash + 1)),
  };
}

function checkedName(name: string): string {
  if (name === '' || NAME.test(name)) return name;
  throw new Error(`"${name}" is no name of a Varnish: letters, digits, and . _ - + @ : / after the first`);
}

/** For the screen, before more is known. */
export function targetLabel({ host, name }: VarnishTarget): string {
  if (host === '') return name === '' ? 'varnish' : name;
  return name === '' ? host : `${host}/${name}`;
}

/** Where it was looked for, to be put into a sentence. */
export function placeText({ host, name }: VarnishTarget): string {
  const where = host === '' ? 'here' : `on ${host}`;
  return name === '' ? where : `${where} under the name ${name}`;
}
