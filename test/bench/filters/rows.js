// Bodies and their filters. Each row: name; kind and coding of the body (servers/filter-origin.js); settings of the
// program for the fetch (esi, gzip, gunzip); headers of the client, which accepts no gzip by default; whether a hit
// is measured; filters named by a program, including an extension's: Varnish has no such rows.
const GZIP = { 'Accept-Encoding': 'gzip' };
const packed = true;
const hit = true;

export const ROWS = [
  { name: 'none', kind: 'text' },
  { name: 'testgunzip, text', kind: 'text', packed, headers: GZIP },
  { name: 'testgunzip, letters', kind: 'letters', packed, headers: GZIP },
  { name: 'gunzip, text', kind: 'text', packed, wishes: ['gunzip'] },
  { name: 'gunzip, letters', kind: 'letters', packed, wishes: ['gunzip'] },
  { name: 'gzip, text', kind: 'text', wishes: ['gzip'], headers: GZIP },
  { name: 'gzip, letters', kind: 'letters', wishes: ['gzip'], headers: GZIP },
  { name: 'esi, markup', kind: 'markup', wishes: ['esi'] },
  { name: 'esi, tags', kind: 'tags', wishes: ['esi'] },
  { name: 'esi, text without <', kind: 'text', wishes: ['esi'] },
  { name: 'esi, blanks', kind: 'blanks', wishes: ['esi'] },
  { name: 'esi + gzip, markup', kind: 'markup', wishes: ['esi', 'gzip'], headers: GZIP },
  { name: 'esi + gzip, text without <', kind: 'text', wishes: ['esi', 'gzip'], headers: GZIP },
  { name: 'gunzip + esi, markup', kind: 'markup', packed, wishes: ['esi', 'gunzip'] },
  { name: 'gunzip + esi, letters', kind: 'letters', packed, wishes: ['esi', 'gunzip'] },
  { name: 'packed esi, markup', kind: 'markup', packed, wishes: ['esi'], headers: GZIP },
  { name: 'packed esi, tags', kind: 'tags', packed, wishes: ['esi'], headers: GZIP },
  { name: 'packed esi, text without <', kind: 'text', packed, wishes: ['esi'], headers: GZIP },
  { name: 'packed esi, letters', kind: 'letters', packed, wishes: ['esi'], headers: GZIP },
  { name: 'packed esi, blanks', kind: 'blanks', packed, wishes: ['esi'], headers: GZIP },
  { name: 'packed esi, zeros', kind: 'zeros', packed, wishes: ['esi'], headers: GZIP },
  { name: 'packed esi, 5,000 statements', kind: 'statements', packed, wishes: ['esi'], headers: GZIP },
  { name: 'hit, none', kind: 'text', hit },
  { name: 'hit, range', kind: 'text', headers: { Range: 'bytes=1000-' }, hit },
  { name: 'hit, gunzip, text', kind: 'text', packed, hit },
  { name: 'hit, gunzip, letters', kind: 'letters', packed, hit },
  { name: 'hit, gunzip + range, text', kind: 'text', packed, headers: { Range: 'bytes=1000-' }, hit },
  { name: 'hit, gunzip of packed esi, markup', kind: 'markup', packed, wishes: ['esi'], hit },
  { name: 'hit, gunzip of packed esi, letters', kind: 'letters', packed, wishes: ['esi'], hit },
  { name: 'stitching', kind: 'page', wishes: ['esi'] },
  { name: 'hit, stitching', kind: 'page', wishes: ['esi'], hit },
  { name: 'packed stitching', kind: 'page', packed, wishes: ['esi'], headers: GZIP },
  { name: 'hit, packed stitching', kind: 'page', packed, wishes: ['esi'], headers: GZIP, hit },
  { name: 'hit, packed stitching + gunzip', kind: 'page', packed, wishes: ['esi'], hit },
  { name: 'extension that sees', kind: 'text', fetched: 'see' },
  { name: 'extension that copies', kind: 'text', fetched: 'copy' },
  { name: 'gunzip + extension that copies', kind: 'text', packed, fetched: 'gunzip copy' },
  { name: 'hit, extension that sees', kind: 'text', delivered: 'see_delivered', hit },
  { name: 'hit, extension that copies', kind: 'text', delivered: 'copy_delivered', hit },
  {
    name: 'hit, gunzip + extension that copies',
    ...{ kind: 'text', packed, delivered: 'gunzip copy_delivered', hit },
  },
];

/** The program of a row; `module` is the extension's file. */
export function programOf({ wishes = [], fetched, delivered }, module) {
  const lines = wishes.map((wish) => `set beresp.do_${wish} = true;`);
  if (fetched !== undefined) lines.push(`set beresp.filters = "${fetched}";`);
  const delivery = delivered === undefined ? '' : `set resp.filters = "${delivered}";`;
  return {
    own: fetched !== undefined || delivered !== undefined,
    text: `${(fetched ?? delivered) ? `import passing from "${module}";` : ''}
sub vcl_backend_response { ${lines.join(' ')} }
sub vcl_deliver { ${delivery} }`,
  };
}
