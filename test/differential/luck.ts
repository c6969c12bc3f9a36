// Cases in which Varnish, or how busy the machine is, answers in one way or another: two recordings of them differed, or a
// recording of one moment says nothing about the next. A replay leaves them out; a live comparison plays them.

export const LUCK: Readonly<Record<string, string>> = {
  'head of a stream': 'which of two threads of Varnish ends first',
  'eof without streaming': 'whether the end of the body or of the connection is seen first',
  'a date since when it is the response': 'its input holds the time at which it is played',
  'ranges-off: ranges off: a miss that is not to be kept':
    'which of two connections to the origin is free again first',
  'gzip: gzip: a stale object while what replaces it is broken':
    'whether the refresh ends within a pause of the scenario',
};
