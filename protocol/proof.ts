// The text whose HMAC proves knowledge of the secret in the console protocol. It contains the protocol and the
// address that the client connected to, so that a relayed response is worthless at any other listener, and in any
// other protocol that uses the same secret.

/** @param to address and port as addressText() writes them */
export function proofText(challenge: string, to: string): string {
  return `proxyd console 1\n${to}\n${challenge}\n`;
}

/** Text of a TCP endpoint: `192.0.2.1:6083`, `[2001:db8::1]:6083`; IPv4 addresses never in IPv6 notation. */
export function addressText(address: string, port: number): string {
  const plain = plainAddress(address);
  return plain.includes(':') ? `[${plain}]:${port}` : `${plain}:${port}`;
}

/** An address with IPv4-mapped ones as IPv4, and without a zone. */
export function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
}
