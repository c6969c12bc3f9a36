// Messages and their modification by programs on the way, compared with Varnish: hop-by-hop headers, parts and
// compressed bodies, revalidation during a fetch, request bodies of background fetches, which side closes a
// connection.
import { compareCases } from './compare.ts';
import { PASSAGE_CASES, PASSAGE_KNOWN } from './passage-cases.ts';

compareCases(
  'passage',
  'what passes through, beside Varnish',
  { cases: PASSAGE_CASES, program: 'passage.vcl' },
  PASSAGE_KNOWN,
);
