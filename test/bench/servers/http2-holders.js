// HTTP/2 connections in clear that are left open. Arguments: port, `idle` or `waiting`, connections, streams on each.
//   idle      each stream was answered, one after the other
//   waiting   each has the head of its response and a window of 0 for the body
// Prints the number of streams once all are there, and holds them until it is ended.
import { connect } from 'node:http2';

const [port, kind, connections, streams] = process.argv
  .slice(2)
  .map((word) => (Number.isNaN(Number(word)) ? word : Number(word)));
const settings = kind === 'waiting' ? { initialWindowSize: 0 } : {};

function answered(session) {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':path': '/page' });
    stream.on('error', reject);
    stream.on(kind === 'waiting' ? 'response' : 'end', resolve);
    stream.resume();
  });
}

async function hold() {
  const session = connect(`http://127.0.0.1:${port}`, { settings });
  session.on('error', (error) => {
    console.error(error);
    process.exit(1);
  });
  // A peer that has not taken the window yet may send a body.
  await new Promise((resolve) => session.once('localSettings', resolve));
  if (kind === 'waiting') await Promise.all(Array.from({ length: streams }, () => answered(session)));
  else for (let i = 0; i < streams; i++) await answered(session);
}

for (let i = 0; i < connections; i++) await hold();
console.log(connections * streams);
