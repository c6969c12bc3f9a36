// An operator's mistake with a certificate: `message` says where, what, and what to do. Never has a byte of a key.

export class CertificateError extends Error {}

/** Runs `load`; a CertificateError of it gets the place in the file of -A in front.
 * @param at `file:line:column`, or null for what no file names */
export function placed<T>(at: string | null | undefined, load: () => T): T {
  try {
    return load();
  } catch (cause) {
    if (cause instanceof CertificateError && typeof at === 'string')
      throw new CertificateError(`-A ${at}: ${cause.message}`);
    throw cause;
  }
}
