// The text whose HMAC proves that a client of the console protocol knows the secret. It names
// the protocol and the address that the client has connected to, so that an answer that is relayed
// is worthless at any other listener, and in any other protocol that uses the same secret.

/** @param to address and port as addressText() writes them */
export function proofText(challenge: string, to: string): string {
  return `proxyd console 1\n${to}\n${challenge}\n`;
}

/** An end of a TCP connection: `192.0.2.1:6083`, `[2001:db8::1]:6083`; an IPv4 address never in its IPv6 form. */
export function addressText(address: string, port: number): string {
  const plain = plainAddress(address);
  return plain.includes(':') ? `[${plain}]:${port}` : `${plain}:${port}`;
}

/** An address without the form that IPv4 ones take on an IPv6 socket, and without a zone. */
export function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
}
