// Queries of the log as views write them, for the rows from which one comes. What is equal to a text is quoted always:
// a URL may hold anything. A host stands beside its URL, or the requests of others would come along.

/** Requests that were sent for a URL of a host, or looked up as that; '' is any host. */
export function pageQuery(host: string, url: string): string {
  const ofHost = host === '' ? '' : `ReqHeader:Host eq ${quoted(host)} and `;
  return `${ofHost}ReqURL eq ${quoted(url)}`;
}

export function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}
