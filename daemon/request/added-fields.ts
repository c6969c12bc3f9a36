// Field lines that responses get from the proxy itself.

export const ACCEPT_RANGES = 'Accept-Ranges: bytes';
export const KEEP_ALIVE = 'Connection: keep-alive';
