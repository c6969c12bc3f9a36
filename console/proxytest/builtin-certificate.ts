// The certificate of a scripted server that names none: self-signed for example.com and localhost, and worth nothing anywhere else.

/** Key and certificate in one text. */
export const BUILTIN_PEM = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgm/5UvtJhy7xlYGP3
gyQYWFi5q9JiJJvE3Wzjn7qOnmGhRANCAATJdz1sruQKeb+1+296FRW4fmYBXdFG
C2BXYjTc3bayv0k/i/76UTy+nuejD/H3H9hKDghBZpQ343W1vFi3n7hw
-----END PRIVATE KEY-----
-----BEGIN CERTIFICATE-----
MIIBqzCCAVKgAwIBAgIUQdv6TKVv2cf294NMiudiaVd/WDgwCgYIKoZIzj0EAwIw
FjEUMBIGA1UEAwwLZXhhbXBsZS5jb20wIBcNMjYxMTI5MDUxMjQ4WhgPMjEyNjEx
MDUwNTEyNDhaMBYxFDASBgNVBAMMC2V4YW1wbGUuY29tMFkwEwYHKoZIzj0CAQYI
KoZIzj0DAQcDQgAEyXc9bK7kCnm/tftvehUVuH5mAV3RRgtgV2I03N22sr9JP4v+
+lE8vp7now/x9x/YSg4IQWaUN+N1tbxYt5+4cKN8MHowHQYDVR0OBBYEFFGmM0zC
Wvr3n2SpWZbdjI0+yCyDMB8GA1UdIwQYMBaAFFGmM0zCWvr3n2SpWZbdjI0+yCyD
MA8GA1UdEwEB/wQFMAMBAf8wJwYDVR0RBCAwHoILZXhhbXBsZS5jb22CCWxvY2Fs
aG9zdIcEfwAAATAKBggqhkjOPQQDAgNHADBEAiB0nhTBxyCiP/pnOFFeUQHj/uuu
cstnc2Lbvm1c9SxlYQIgJt3ToFwtDr6/hztcYLstR4TvmaiF+PQfVDKjjm7TFns=
-----END CERTIFICATE-----
`;
