/** Files of test/system whose subject is not the worker: they would play the same with any number of threads. */
const OF_ANY_THREADS =
  /^(acme|attach|console|counter-readers|demo|documents|edge-fake|edge-setup|events|fleet|gather|health|hostile-control|log-tool|outputs|package|planted|privileges|programs-offline|readonly|third-party|tools|varnish)\b/;

/** @param {string} path of a test */
export function isOfAnyThreads(path) {
  return OF_ANY_THREADS.test(path.slice(path.lastIndexOf('/') + 1));
}
