// Scenarios of what Varnish 7.2 to 7.7 added or changed, beside 7.7 and with varnish_release=9.0 here. To play or record
// them, put the programs of that release first in PATH:
//   test/harness/varnish/other-releases.sh trixie /tmp/varnish-7.7
//   PATH=/tmp/varnish-7.7/bin:$PATH npm run test:record -- scenarios-newer.test
import { compareScenarios } from './compare-scenarios.ts';

compareScenarios(/./, 'scenarios-newer');
