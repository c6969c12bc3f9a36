// The examples of RFC 7541, appendix C.2 to C.6: blocks, their fields, and the size of the table after each.

export interface Example {
  readonly section: string;
  /** Size of the dynamic table in octets. */
  readonly table: number;
  /** Whether strings are Huffman coded. */
  readonly coded: boolean;
  readonly blocks: readonly {
    readonly hex: string;
    readonly fields: readonly string[];
    readonly held: number;
  }[];
}

const REQUESTS = [
  [':method: GET', ':scheme: http', ':path: /', ':authority: www.example.com'],
  [':method: GET', ':scheme: http', ':path: /', ':authority: www.example.com', 'cache-control: no-cache'],
  [
    ':method: GET',
    ':scheme: https',
    ':path: /index.html',
    ':authority: www.example.com',
    'custom-key: custom-value',
  ],
];

const LOCATION = 'location: https://www.example.com';
const DATE = 'date: Mon, 21 Oct 2013 20:13:21 GMT';
const RESPONSES = [
  [':status: 302', 'cache-control: private', DATE, LOCATION],
  [':status: 307', 'cache-control: private', DATE, LOCATION],
  [
    ':status: 200',
    'cache-control: private',
    'date: Mon, 21 Oct 2013 20:13:22 GMT',
    LOCATION,
    'content-encoding: gzip',
    'set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1',
  ],
];

function single(section: string, hex: string, field: string, held: number): Example {
  return { section, table: 4096, coded: false, blocks: [{ hex, fields: [field], held }] };
}

function several(
  section: string,
  table: number,
  coded: boolean,
  lists: readonly (readonly string[])[],
  held: readonly number[],
  hex: readonly string[],
): Example {
  const blocks = hex.map((block, i) => ({ hex: block, fields: lists[i] ?? [], held: held[i] ?? 0 }));
  return { section, table, coded, blocks };
}

export const EXAMPLES: readonly Example[] = [
  single('C.2.1', '400a637573746f6d2d6b65790d637573746f6d2d686561646572', 'custom-key: custom-header', 55),
  single('C.2.2', '040c2f73616d706c652f70617468', ':path: /sample/path', 0),
  single('C.2.3', '100870617373776f726406736563726574', 'password: secret', 0),
  single('C.2.4', '82', ':method: GET', 0),
  several(
    'C.3',
    4096,
    false,
    REQUESTS,
    [57, 110, 164],
    [
      '828684410f7777772e6578616d706c652e636f6d',
      '828684be58086e6f2d6361636865',
      '828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565',
    ],
  ),
  several(
    'C.4',
    4096,
    true,
    REQUESTS,
    [57, 110, 164],
    [
      '828684418cf1e3c2e5f23a6ba0ab90f4ff',
      '828684be5886a8eb10649cbf',
      '828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf',
    ],
  ),
  several(
    'C.5',
    256,
    false,
    RESPONSES,
    [222, 222, 215],
    [
      '4803333032580770726976617465611d4d6f6e2c203231204f637420323031332032303a31333a323120474d546e1768747470733a2f2f7777772e6578616d706c652e636f6d',
      '4803333037c1c0bf',
      '88c1611d4d6f6e2c203231204f637420323031332032303a31333a323220474d54c05a04677a69707738666f6f3d4153444a4b48514b425a584f5157454f50495541585157454f49553b206d61782d6167653d333630303b2076657273696f6e3d31',
    ],
  ),
  several(
    'C.6',
    256,
    true,
    RESPONSES,
    [222, 222, 215],
    [
      '488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad171863c78f0b97c8e9ae82ae43d3',
      '4883640effc1c0bf',
      '88c16196d07abe941054d444a8200595040b8166e084a62d1bffc05a839bd9ab77ad94e7821dd7f2e6c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007',
    ],
  ),
];
