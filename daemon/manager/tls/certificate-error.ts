// An operator's mistake with a certificate: `message` says where, what, and what to do. Never has a byte of a key.

export class CertificateError extends Error {}
