/**
 * Tests the built-in signatures of events and functions: complete for npm artifacts, stored once, and used
 * for search and decoding.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { id, Interface, type EventFragment } from 'ethers';

import { createQueryRunner } from '../../../src/clickhouse/client/namedQueries';
import type { Hex } from '../../../src/domain/hex';
import { decodeBy, eventsByTopic } from '../../../src/query/logs/decodeEvent';
import { seedSignatures } from '../../../src/contracts/seedSignatures';
import { explorerDeps, startExplorer } from '../api/explorer/explorerServer';
import { askRows } from '../../support/engine/askRows';
import { openSourcesDatabase, type SourcesDatabase } from '../../support/engine/sourcesDatabase';

let db: SourcesDatabase;

beforeAll(async () => {
  db = await openSourcesDatabase();
});

afterAll(() => db.close());

const bitsOf = (event: EventFragment): string =>
  event.inputs.map(({ indexed }) => Number(indexed === true)).join('');

/** The ABIs in all artifacts of an npm package. */
function abisOf(artifact: string): Interface[] {
  const file = require.resolve(artifact);
  const folder = artifact.includes('openzeppelin') ? dirname(file) : null;
  const files =
    folder === null
      ? [file]
      : ['ERC20', 'ERC721', 'ERC1155', 'ERC4626', 'Ownable', 'AccessControl', 'Pausable', 'ERC1967Proxy']
          .map((name) => join(folder, `${name}.json`))
          .filter((path) => readdirSync(folder).includes(path.slice(folder.length + 1)));
  return files.map((path) => new Interface(JSON.parse(readFileSync(path, 'utf8')).abi));
}

const ARTIFACTS = [
  'openzeppelin-contracts-5/build/contracts/ERC20.json',
  '@uniswap/v2-core/build/UniswapV2Pair.json',
  '@uniswap/v2-core/build/UniswapV2Factory.json',
  '@uniswap/v2-periphery/build/UniswapV2Router02.json',
  '@uniswap/v3-core/artifacts/contracts/UniswapV3Pool.sol/UniswapV3Pool.json',
  '@uniswap/v3-core/artifacts/contracts/UniswapV3Factory.sol/UniswapV3Factory.json',
  '@uniswap/v3-periphery/artifacts/contracts/NonfungiblePositionManager.sol/NonfungiblePositionManager.json',
];

test('the built-in signatures are stored once, however often they are seeded', async () => {
  const runner = createQueryRunner(db.writer);
  const first = await seedSignatures(db.writer, runner);
  expect(first).toBeGreaterThan(300);
  expect(await seedSignatures(db.writer, runner)).toBe(0);
  const rows = await askRows<{ stored: string }>(db.writer, 'SELECT count() AS stored FROM abi_signatures');
  expect(rows).toEqual([{ stored: String(first) }]);
});

test('every event and function of the npm artifacts is found by its selector, in every indexed layout', async () => {
  const wanted = ARTIFACTS.flatMap(abisOf);
  expect(wanted.length).toBeGreaterThanOrEqual(14);
  for (const abi of wanted) {
    const events = abi.fragments.flatMap((each) =>
      each.type === 'event' ? [abi.getEvent(each.format())!] : [],
    );
    const functions = abi.fragments.flatMap((each) =>
      each.type === 'function' ? [abi.getFunction(each.format())!] : [],
    );
    const selectors = [
      ...events.map(({ topicHash }) => topicHash),
      ...functions.map(({ selector }) => selector),
    ];
    const known = await db.signatures.listBySelectors(selectors as Hex[]);
    for (const event of events) {
      const forms = known.filter(({ selector }) => selector === event.topicHash);
      expect(forms.map(({ entry }) => bitsOf(new Interface([entry]).getEvent(event.name)!))).toContain(
        bitsOf(event),
      );
    }
    for (const { selector, name } of functions)
      expect(known.filter((each) => each.selector === selector).map(({ entry }) => entry.name)).toContain(
        name,
      );
  }
});

test('the Transfer events of ERC-20 and ERC-721 are distinguished by their topic count', async () => {
  const erc20 = new Interface(['event Transfer(address indexed from, address indexed to, uint256 value)']);
  const erc721 = new Interface([
    'event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)',
  ]);
  const values = [`0x${'11'.repeat(20)}`, `0x${'22'.repeat(20)}`, 7n];
  for (const [abi, name] of [
    [erc20, 'value'],
    [erc721, 'tokenId'],
  ] as const) {
    const { topics, data } = abi.encodeEventLog('Transfer', values);
    const known = await db.signatures.listBySelectors([topics[0] as Hex]);
    const forms = eventsByTopic(known.map(({ entry }) => entry)).get(topics[0] as Hex);
    const decoded = decodeBy(forms, { topics: topics as Hex[], data: data as Hex });
    expect(decoded?.args.map(({ name: each, value }) => [each, value])).toEqual([
      ['from', values[0]],
      ['to', values[1]],
      [name, '7'],
    ]);
  }
});

test('a search finds events by the beginning of their name, in any letter case', async () => {
  const found = await db.signatures.listByPrefix('pooLreg', 5);
  expect(found.map(({ signature }) => signature.split('(')[0])).toEqual(['PoolRegistered', 'PoolRegistered']);
  expect(found.map(({ signature }) => signature)).toContain('PoolRegistered(bytes32,address,uint8)');
});

test('the signature database answers in the format of openchain: a list of names, null for an unknown function, [] for an unknown event', async () => {
  const deps = explorerDeps(null, () => null, { signatures: db.signatures });
  const api = await startExplorer(deps, () => null);
  const [transfer, approve] = ['Transfer(address,address,uint256)', 'approve(address,uint256)'];
  const [topic, selector] = [id(transfer), id(approve).slice(0, 10)];
  const [noTopic, noSelector] = [`0x${'12'.repeat(32)}`, '0xffffffff'];
  const lookup = '/signature-database/v1/lookup';
  try {
    const asked = `?function=${selector.toUpperCase().replace('0X', '0x')},${noSelector}&event=${topic},${noTopic}&filter=true`;
    const { status, json } = await api.ask(`${lookup}${asked}`);
    expect([status, json]).toEqual([
      200,
      {
        ok: true,
        result: {
          event: { [topic]: [{ name: transfer, filtered: false }], [noTopic]: [] },
          function: { [selector]: [{ name: approve, filtered: false }], [noSelector]: null },
        },
      },
    ]);
    for (const bad of ['function=0x12', 'event=0x12345678', `function=${Array(101).fill(selector).join()}`])
      expect((await api.ask(`${lookup}?${bad}`)).status).toBe(400);
  } finally {
    await api.close();
  }
});
