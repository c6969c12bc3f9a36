// Loaded before the daemon (node --import): a runtime that makes no handles of listeners for others to listen on.
import net from 'node:net';

delete net._createServerHandle;
