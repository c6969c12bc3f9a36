// A Varnish to attach to: of this host by its name as -n gives it, or of another host over ssh. Both become words of
// command lines, here and there; therefore anything that is not plainly a name is refused rather than quoted.

export interface VarnishTarget {
  /** The other host, as ssh takes it; '' is this host. */
  host: string;
  /** Port of ssh; '' is its default. */
  port: string;
  /** As -n gives it; '' is Varnish's default. */
  name: string;
}

const SCHEME = 'ssh://';
const NAME = /^[A-Za-z0-9_./][A-Za-z0-9_./+@:-]*$/;
/** A name or an address, with the user before it if need be. */
const HOST = /^(?:[A-Za-z0-9_][A-Za-z0-9_.-]*@)?(?:[A-Za-z0-9_][A-Za-z0-9_.-]*|\[[0-9A-Fa-f:.]+\])$/;

/** NAME or ssh://host[:port][/NAME]. Throws an Error with a sentence for the operator. */
export function parseVarnishTarget(text: string): VarnishTarget {
  if (!text.startsWith(SCHEME)) return { host: '', port: '', name: checkedName(text) };
  const rest = text.slice(SCHEME.length);
  const slash = rest.indexOf('/');
  const place = slash < 0 ? rest : rest.slice(0, slash);
  const port = /:(\d{1,5})$/.exec(place);
  const host = port === null ? place : place.slice(0, port.index);
  if (!HOST.test(host)) throw new Error(`"${host}" is not a host name: ssh://[user@]host[:port][/NAME]`);
  return {
    host: host.replace(/[[\]]/g, ''),
    port: port?.[1] ?? '',
    name: checkedName(slash < 0 ? '' : rest.slice(slash + 1)),
  };
}

function checkedName(name: string): string {
  if (name === '' || NAME.test(name)) return name;
  throw new Error(`"${name}" is not a Varnish name: letters, digits, and . _ - + @ : / after the first`);
}

/** The label until the identity is known. */
export function targetLabel({ host, name }: VarnishTarget): string {
  if (host === '') return name === '' ? 'varnish' : name;
  return name === '' ? host : `${host}/${name}`;
}

/** The place that was tried, as part of a sentence. */
export function placeText({ host, name }: VarnishTarget): string {
  const where = host === '' ? 'here' : `on ${host}`;
  return name === '' ? where : `${where} under the name ${name}`;
}
