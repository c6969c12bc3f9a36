// Log queries built by views for their rows. Values compared for equality are always quoted, since a URL may contain
// anything. The host is part of a page's query, to exclude the same URL on other hosts.

/** Requests sent for a URL of a host, or looked up as such; '' is any host. */
export function pageQuery(host: string, url: string): string {
  const ofHost = host === '' ? '' : `ReqHeader:Host eq ${quoted(host)} and `;
  return `${ofHost}ReqURL eq ${quoted(url)}`;
}

export function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}
