// What a message brings and what a program sets on its way, beside Varnish: headers that end at a hop, parts and packed
// bodies, revalidation of what is still being fetched, request bodies of background fetches, who closes a connection.
import { compareCases } from './compare.ts';
import { PASSAGE_CASES, PASSAGE_KNOWN } from './passage-cases.ts';

compareCases(
  'passage',
  'what passes through, beside Varnish',
  { cases: PASSAGE_CASES, program: 'passage.vcl' },
  PASSAGE_KNOWN,
);
